import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** What can be done with a lock of any kind, under one name for all kinds. */
final class Kinds {
  private final RedissonClient redisson;
  private final Map<String, String> permits = new ConcurrentHashMap<>(); // by thread and name

  Kinds(RedissonClient redisson) {
    this.redisson = redisson;
  }

  /** Runs a command made of a kind and an operation. */
  Object run(String[] command, String name, String argument) throws Exception {
    long number = Long.parseLong(argument);
    if (command[0].equals("permit")) {
      return onePermit(redisson.getPermitExpirableSemaphore(name), command[1], name, number);
    }
    if (command[0].equals("plain")) {
      return plainPermit(redisson.getSemaphore(name), command[1], number);
    }
    RLock lock = lockOf(command[0], name);
    switch (command[1]) {
      case "prepare":
        return true;
      case "try": // waits for so long
      case "briefly": // what a program has until it dies: its watchdog sees to that
        return lock.tryLock(command[1].equals("try") ? number : 0, TimeUnit.MILLISECONDS);
      case "unlock":
        lock.unlock();
        return true;
      case "locked":
        return lock.isLocked();
      case "left":
        return lock.remainTimeToLive();
      case "holds":
        return lock.getHoldCount();
      case "mine":
        return lock.isHeldByCurrentThread();
      default:
        throw new IllegalArgumentException(command[1]);
    }
  }

  private RLock lockOf(String kind, String name) {
    switch (kind) {
      case "lock":
        return redisson.getLock(name);
      case "fenced":
        return redisson.getFencedLock(name);
      case "spin":
        return redisson.getSpinLock(name);
      case "fair":
        return redisson.getFairLock(name);
      case "read":
        return redisson.getReadWriteLock(name).readLock();
      case "write":
        return redisson.getReadWriteLock(name).writeLock();
      case "multi":
        return redisson.getMultiLock(redisson.getLock(name + "-1"), redisson.getLock(name + "-2"));
      default:
        throw new IllegalArgumentException(kind);
    }
  }

  /** A semaphore of one permit as a lock. */
  private Object onePermit(RPermitExpirableSemaphore semaphore, String operation, String name, long number)
      throws Exception {
    String key = Thread.currentThread().getId() + " " + name;
    switch (operation) {
      case "prepare":
        return semaphore.trySetPermits(1);
      case "try":
        return kept(key, semaphore.tryAcquire(number, TimeUnit.MILLISECONDS));
      case "briefly": // for so long: it has no watchdog
        return kept(key, semaphore.tryAcquire(0, number, TimeUnit.MILLISECONDS));
      case "unlock":
        semaphore.release(permits.remove(key));
        return true;
      case "locked":
        return semaphore.availablePermits() == 0;
      default:
        throw new IllegalArgumentException(operation);
    }
  }

  /** The same with permits of nobody. */
  private static Object plainPermit(RSemaphore semaphore, String operation, long number) throws Exception {
    switch (operation) {
      case "prepare":
        return semaphore.trySetPermits(1);
      case "try":
        return semaphore.tryAcquire(number, TimeUnit.MILLISECONDS);
      case "unlock":
        semaphore.release();
        return true;
      default:
        throw new IllegalArgumentException(operation);
    }
  }

  private boolean kept(String key, String id) {
    if (id == null) {
      return false;
    }
    permits.put(key, id);
    return true;
  }
}

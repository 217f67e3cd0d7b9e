import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.Redisson;
import org.redisson.api.LockOptions;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * A program with Redisson's locks, driven by lines on its standard input:
 * "id thread command name [argument]". Each is answered by "id result", or
 * "id error: text". Commands of one thread run one after another on one Java
 * thread, because that is who owns a lock there. A command "kind:operation" is
 * one that every kind of lock understands, see {@link Kinds}.
 *
 * <p>Its arguments are the servers' addresses, the watchdog's time in milliseconds, and how releases are published in
 * a cluster: see {@link Setting}.
 */
public class Peer {
  private static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
  private static volatile Kinds kinds;

  public static void main(String[] args) throws Exception {
    RedissonClient redisson = Redisson.create(Setting.of(args[0], Long.parseLong(args[1]), args[2]));
    kinds = new Kinds(redisson);
    say("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      threads
          .computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor())
          .execute(() -> answer(redisson, words));
    }
    System.exit(0);
  }

  private static void answer(RedissonClient redisson, String[] words) {
    try {
      String argument = words.length > 4 ? words[4] : "0";
      say(words[0] + " " + result(redisson, words[2], words[3], argument));
    } catch (Throwable e) {
      say(words[0] + " error: " + e);
    }
  }

  private static Object result(RedissonClient redisson, String command, String name, String argument)
      throws Exception {
    if (command.contains(":")) {
      return kinds.run(command.split(":"), decoded(name), argument);
    }
    switch (command.split("\\.")[0]) {
      case "rw":
        return readWrite(redisson.getReadWriteLock(name), command, argument);
      case "permit":
        return permits(redisson.getPermitExpirableSemaphore(name), command, argument);
      case "plain":
        return plain(redisson.getSemaphore(name), command, argument);
      case "fair":
        return fair(redisson.getFairLock(name), command, argument);
      case "latch":
        return latch(redisson.getCountDownLatch(name), command, argument);
      case "multi":
        return multi(redisson, command, name.split(","), argument);
      default:
        return run(redisson, command, name, argument);
    }
  }

  /** A name that is no word comes in Base64, behind an equals sign. */
  private static String decoded(String name) {
    return name.startsWith("=")
        ? new String(Base64.getDecoder().decode(name.substring(1)), StandardCharsets.UTF_8)
        : name;
  }

  private static Object run(RedissonClient redisson, String command, String name, String argument) throws Exception {
    RLock lock = redisson.getLock(name);
    long number = Long.parseLong(argument);
    switch (command) {
      case "try":
        return lock.tryLock(number, TimeUnit.MILLISECONDS);
      case "unlock":
        lock.unlock();
        return true;
      case "locked":
        return lock.isLocked();
      case "fenced":
        return redisson.getFencedLock(name).lockAndGetToken();
      case "lock":
        lock.lock();
        return true;
      case "spin":
        return spin(redisson, name);
      case "unspin":
        redisson.getSpinLock(name).unlock();
        return true;
      case "count":
        return count(redisson, name, number);
      default:
        throw new IllegalArgumentException(command);
    }
  }

  private static Object readWrite(RReadWriteLock lock, String command, String argument) throws Exception {
    long number = Long.parseLong(argument);
    switch (command) {
      case "rw.read":
        return lock.readLock().tryLock(number, TimeUnit.MILLISECONDS);
      case "rw.write":
        return lock.writeLock().tryLock(number, TimeUnit.MILLISECONDS);
      case "rw.unread":
        lock.readLock().unlock();
        return true;
      case "rw.unwrite":
        lock.writeLock().unlock();
        return true;
      case "rw.isread":
        return lock.readLock().isLocked();
      case "rw.iswritten":
        return lock.writeLock().isLocked();
      default:
        throw new IllegalArgumentException(command);
    }
  }

  /** The lock that goes to who has waited for longest. */
  private static Object fair(RLock lock, String command, String argument) throws Exception {
    switch (command) {
      case "fair.lock": // waits in line
        lock.lock();
        return true;
      case "fair.wait": // waits in line for so long
        return lock.tryLock(Long.parseLong(argument), TimeUnit.MILLISECONDS);
      case "fair.try": // does not stand in line
        return lock.tryLock();
      case "fair.unlock":
        lock.unlock();
        return true;
      case "fair.locked":
        return lock.isLocked();
      case "fair.left":
        return lock.remainTimeToLive();
      case "fair.holds":
        return lock.getHoldCount();
      default:
        throw new IllegalArgumentException(command);
    }
  }

  private static Object permits(RPermitExpirableSemaphore semaphore, String command, String argument) throws Exception {
    switch (command) {
      case "permit.set":
        return semaphore.trySetPermits(Integer.parseInt(argument));
      case "permit.take": // for as long as it is not given back
        return semaphore.tryAcquire(Long.parseLong(argument), TimeUnit.MILLISECONDS);
      case "permit.lease": // for so long
        return semaphore.tryAcquire(0, Long.parseLong(argument), TimeUnit.MILLISECONDS);
      case "permit.release":
        semaphore.release(argument);
        return true;
      case "permit.there":
        return semaphore.availablePermits();
      default:
        throw new IllegalArgumentException(command);
    }
  }

  /** The semaphore that is a number, and knows no owners. */
  private static Object plain(RSemaphore semaphore, String command, String argument) throws Exception {
    int number = Integer.parseInt(argument);
    switch (command) {
      case "plain.set":
        return semaphore.trySetPermits(number);
      case "plain.try": // so many
        return semaphore.tryAcquire(number);
      case "plain.wait": // for one, so long
        return semaphore.tryAcquire(Long.parseLong(argument), TimeUnit.MILLISECONDS);
      case "plain.release":
        semaphore.release(number);
        return true;
      case "plain.there":
        return semaphore.availablePermits();
      case "plain.drain":
        return semaphore.drainPermits();
      case "plain.add":
        semaphore.addPermits(number);
        return true;
      case "plain.delete":
        return semaphore.delete();
      default:
        throw new IllegalArgumentException(command);
    }
  }

  private static Object latch(RCountDownLatch latch, String command, String argument) throws Exception {
    long number = Long.parseLong(argument);
    switch (command) {
      case "latch.set":
        return latch.trySetCount(number);
      case "latch.down": // so often
        for (long i = 0; i < number; i++) {
          latch.countDown();
        }
        return true;
      case "latch.count":
        return latch.getCount();
      case "latch.await":
        return latch.await(number, TimeUnit.MILLISECONDS);
      case "latch.drop":
        return latch.delete();
      default:
        throw new IllegalArgumentException(command);
    }
  }

  /** Several locks that are had as one. */
  private static Object multi(RedissonClient redisson, String command, String[] names, String argument)
      throws Exception {
    RLock[] locks = new RLock[names.length];
    for (int i = 0; i < names.length; i++) {
      locks[i] = redisson.getLock(names[i]);
    }
    RLock all = redisson.getMultiLock(locks);
    switch (command) {
      case "multi.try":
        return all.tryLock(Long.parseLong(argument), TimeUnit.MILLISECONDS);
      case "multi.unlock":
        all.unlock();
        return true;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  /** Looks now and then until the lock is free, as ever. Returns how often it has looked in vain. */
  private static long spin(RedissonClient redisson, String name) {
    AtomicLong vain = new AtomicLong();
    LockOptions.BackOffPolicy usual = new LockOptions.ExponentialBackOff().create();
    redisson
        .getSpinLock(
            name,
            () -> () -> {
              vain.incrementAndGet();
              return usual.getNextSleepPeriod();
            })
        .lock();
    return vain.get();
  }

  /** Adds to a counter, under the lock, in two steps that only the lock holds together. */
  private static long count(RedissonClient redisson, String name, long times) {
    RLock lock = redisson.getLock(name);
    for (long i = 0; i < times; i++) {
      lock.lock();
      try {
        String before = (String) redisson.getBucket("counter").get();
        redisson.getBucket("counter").set(String.valueOf(Long.parseLong(before) + 1));
      } finally {
        lock.unlock();
      }
    }
    return times;
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}

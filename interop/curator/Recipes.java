import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;

/** Curator's locks, by commands. There is one object of each kind and path. */
final class Recipes {
  private final CuratorFramework client;
  private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
  private final Map<String, InterProcessReadWriteLock> readWrites = new ConcurrentHashMap<>();
  private final Map<String, Deque<Lease>> leases = new ConcurrentHashMap<>();
  private final Map<String, LeaderLatch> latches = new ConcurrentHashMap<>();
  private final AtomicInteger revoked = new AtomicInteger();

  Recipes(CuratorFramework client) {
    this.client = client;
  }

  Object run(String command, String path, String argument) throws Exception {
    switch (command.split("\\.")[0]) {
      case "mutex":
        return mutex(mutexes.computeIfAbsent(path, p -> new InterProcessMutex(client, p)), command, argument);
      case "read":
        return lock(readWrite(path).readLock(), command, argument);
      case "write":
        return lock(readWrite(path).writeLock(), command, argument);
      case "permit":
        return permit(path, command, argument);
      case "latch":
        return latch(path, command, argument);
      case "session":
        return "0x" + Long.toHexString(client.getZookeeperClient().getZooKeeper().getSessionId());
      default:
        throw new IllegalArgumentException(command);
    }
  }

  private InterProcessReadWriteLock readWrite(String path) {
    return readWrites.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p));
  }

  private Object mutex(InterProcessMutex mutex, String command, String argument) throws Exception {
    switch (command) {
      case "mutex.revocable":
        mutex.makeRevocable(lock -> revoked.incrementAndGet());
        return true;
      case "mutex.revoked":
        return revoked.get();
      case "mutex.revoke":
        for (String node : mutex.getParticipantNodes()) {
          Revoker.attemptRevoke(client, node);
          return true;
        }
        return false;
      default:
        return lock(mutex, command, argument);
    }
  }

  private static Object lock(InterProcessLock lock, String command, String argument) throws Exception {
    switch (command.split("\\.")[1]) {
      case "try":
        return lock.acquire(Long.parseLong(argument), TimeUnit.MILLISECONDS);
      case "unlock":
        lock.release();
        return true;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  /** The argument of permit.try is the limit, and behind a comma how long to wait. */
  private Object permit(String path, String command, String argument) throws Exception {
    Deque<Lease> mine = leases.computeIfAbsent(path, p -> new ArrayDeque<>());
    switch (command) {
      case "permit.try":
        String[] numbers = argument.split(",");
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, Integer.parseInt(numbers[0]));
        Lease lease = semaphore.acquire(Long.parseLong(numbers[1]), TimeUnit.MILLISECONDS);
        if (lease != null) {
          mine.push(lease);
        }
        return lease != null;
      case "permit.unlock":
        mine.pop().close();
        return true;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  /** Whoever tries takes part until its time is over, or it leads and gives that up. */
  private Object latch(String path, String command, String argument) throws Exception {
    switch (command) {
      case "latch.try":
        LeaderLatch latch = new LeaderLatch(client, path, "java");
        latch.start();
        boolean leads = latch.await(Long.parseLong(argument), TimeUnit.MILLISECONDS);
        if (leads) {
          latches.put(path, latch);
        } else {
          latch.close();
        }
        return leads;
      case "latch.unlock":
        latches.remove(path).close();
        return true;
      case "latch.leader":
        return new LeaderLatch(client, path, "observer").getLeader().getId();
      case "latch.participants":
        return new LeaderLatch(client, path, "observer").getParticipants().size();
      default:
        throw new IllegalArgumentException(command);
    }
  }
}

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** ShedLock's locks, by commands. */
final class Tasks {
  /** How often who waits looks again: ShedLock itself never waits. */
  private static final long PAUSE = 20;

  private final LockProvider provider;
  private final Map<String, SimpleLock> held = new ConcurrentHashMap<>();

  Tasks(LockProvider provider) {
    this.provider = provider;
  }

  Object run(String command, String name, long millis) throws Exception {
    switch (command) {
      case "try": // for at most so long
        return lock(name, millis, 0);
      case "try.atLeast": // at least so long, and at most ten times that
        return lock(name, 10 * millis, millis);
      case "await": // for at most so long, and until it is had
        for (long end = System.nanoTime() + 30_000_000_000L; System.nanoTime() < end; Thread.sleep(PAUSE)) {
          if (lock(name, millis, 0)) {
            return true;
          }
        }
        return false;
      case "extend":
        Optional<SimpleLock> extended = held.get(name).extend(Duration.ofMillis(millis), Duration.ZERO);
        extended.ifPresent(lock -> held.put(name, lock));
        return extended.isPresent();
      case "unlock":
        held.remove(name).unlock();
        return true;
      default:
        throw new IllegalArgumentException(command);
    }
  }

  private boolean lock(String name, long atMost, long atLeast) {
    LockConfiguration wanted =
        new LockConfiguration(Instant.now(), name, Duration.ofMillis(atMost), Duration.ofMillis(atLeast));
    Optional<SimpleLock> lock = provider.lock(wanted);
    lock.ifPresent(l -> held.put(name, l));
    return lock.isPresent();
  }
}

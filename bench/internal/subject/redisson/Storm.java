import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A worker of the benchmark in which threads have one fair lock as fast as they can. It speaks as the workers in Go do:
 * a job comes in, "ready" goes out, "go" comes in, and what was counted goes out.
 */
public class Storm {
  private static final long WARMTH = 5_000_000_000L;

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    String job = in.readLine();
    Config config = new Config();
    config.setLockWatchdogTimeout(30_000);
    config.setCodec(StringCodec.INSTANCE);
    config.useSingleServer().setAddress("redis://" + field(job, "Redis"));
    RedissonClient redisson = Redisson.create(config);
    int threads = Integer.parseInt(field(job, "Goroutines"));
    String key = field(job, "Key");
    race(redisson.getFairLock(key + "/warm/" + ProcessHandle.current().pid()), threads, WARMTH);
    System.out.println("\"ready\"");
    in.readLine();
    System.out.println(race(redisson.getFairLock(key), threads, Long.parseLong(field(job, "Time"))));
    while (in.readLine() != null) {}
    redisson.shutdown();
    System.exit(0);
  }

  /** Returns a field of a job, none of which has quotes in it. */
  private static String field(String job, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(job);
    found.find();
    return found.group(1);
  }

  /** Has as many threads have the lock for so many nanoseconds, and returns what they counted, as JSON. */
  private static String race(RLock lock, int threads, long length) throws Exception {
    AtomicInteger inside = new AtomicInteger();
    List<Racer> racers = new ArrayList<>();
    long began = System.nanoTime();
    for (int i = 0; i < threads; i++) {
      Racer racer = new Racer(lock, inside, began + length);
      racers.add(racer);
      racer.start();
    }
    List<Long> counts = new ArrayList<>();
    Map<Integer, Long> times = new TreeMap<>();
    long violations = 0;
    for (Racer racer : racers) {
      racer.join();
      counts.add(racer.count);
      violations += racer.violations;
      racer.times.forEach((bucket, n) -> times.merge(bucket, n, Long::sum));
    }
    return String.format(
        "{\"Counts\":%s,\"Times\":{%s},\"Elapsed\":%d,\"Violations\":%d}",
        counts,
        times.entrySet().stream()
            .map(e -> "\"" + e.getKey() + "\":" + e.getValue())
            .collect(Collectors.joining(",")),
        System.nanoTime() - began,
        violations);
  }

  private static class Racer extends Thread {
    private final RLock lock;
    private final AtomicInteger inside;
    private final long end;
    private final Map<Integer, Long> times = new TreeMap<>();
    private long count;
    private long violations;

    Racer(RLock lock, AtomicInteger inside, long end) {
      this.lock = lock;
      this.inside = inside;
      this.end = end;
    }

    @Override
    public void run() {
      for (long began = System.nanoTime(); began < end; began = System.nanoTime()) {
        lock.lock();
        times.merge(bucket(System.nanoTime() - began), 1L, Long::sum);
        if (!inside.compareAndSet(0, 1)) {
          violations++;
        }
        inside.set(0);
        lock.unlock();
        count++;
      }
    }
  }

  /** As the histogram of the benchmark has them. */
  private static int bucket(long nanos) {
    long v = Math.min(Math.max(nanos, 0), (1L << 44) - 1);
    int shift = Math.max(64 - Long.numberOfLeadingZeros(v) - 8, 0);
    return shift * 128 + (int) (v >> shift);
  }
}

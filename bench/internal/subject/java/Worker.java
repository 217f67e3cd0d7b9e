import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A worker of the benchmark in which threads have one lock as fast as they can, or one of them has it when it is told
 * to. It speaks as the workers in Go do: a job comes in, "ready" goes out, and then "go" comes in and what was counted
 * goes out, or orders come in and the times at which they were carried out go out.
 */
class Worker {
  private static final long WARMTH = 5_000_000_000L;

  /** How long all compete once more, and how long each stays inside then, as in storm.go. */
  private static final long PROOF_TIME = 300_000_000L;

  private static final long PROOF_STAY = 100_000L;

  private static final long PROOF_PERMIT_STAY = 10_000_000L;

  /** For how many milliseconds who was told to have the lock may wait for it. */
  private static final long ORDER_TIME = 20_000;

  /** A library with locks. */
  interface Library {
    /** Returns its lock of a name, of the kind that the job says. */
    Lock lock(String job, String key) throws Exception;

    void close() throws Exception;
  }

  /** Connects a library for a job. */
  interface Connection {
    Library open(String job) throws Exception;
  }

  /** Is the whole life of a worker. */
  static void work(Connection connection) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    String job = in.readLine();
    Library library = connection.open(job);
    int threads = Math.max(Integer.parseInt(field(job, "Goroutines")), 2);
    String key = field(job, "Key");
    String own = key + "/warm/" + ProcessHandle.current().pid();
    race(library.lock(job, own), new Room(job, ""), threads, WARMTH, 0);
    Lock lock = library.lock(job, key);
    System.out.println("\"ready\"");
    if (field(job, "Workload").equals("handoff")) {
      obey(in, lock);
    } else {
      storm(in, job, lock);
    }
    library.close();
    System.exit(0);
  }

  private static void storm(BufferedReader in, String job, Lock lock) throws Exception {
    Room room = new Room(job, field(job, "Room"));
    int threads = Integer.parseInt(field(job, "Goroutines"));
    in.readLine();
    Tally tally = race(lock, room, threads, Long.parseLong(field(job, "Time")), 0);
    if (!field(job, "Room").isEmpty()) {
      long stay = Integer.parseInt(field(job, "Permits")) > 0 ? PROOF_PERMIT_STAY : PROOF_STAY;
      tally.violations += race(lock, room, threads, PROOF_TIME, stay).violations;
    }
    System.out.println(tally);
    while (in.readLine() != null) {}
  }

  /** Locks and unlocks when told, and says when: System.nanoTime is the clock that all processes of a machine have. */
  private static void obey(BufferedReader in, Lock lock) throws IOException, InterruptedException {
    Turn turn = null;
    for (String order = in.readLine(); order != null; order = in.readLine()) {
      long at;
      if (order.contains("unlock")) {
        at = System.nanoTime();
        turn.give();
      } else {
        turn = lock.next();
        if (!turn.take(ORDER_TIME)) {
          throw new IllegalStateException("no lock in time");
        }
        at = System.nanoTime();
      }
      System.out.println(at);
    }
  }

  /** Returns a field of a job, none of which has quotes in it. */
  static String field(String job, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(job);
    found.find();
    return found.group(1);
  }

  /** What threads compete for. */
  interface Lock {
    /** Returns what to have next: for use once, by the thread that asks. */
    Turn next();
  }

  /** One time that a thread has the lock. */
  interface Turn {
    /** Waits for it for so many milliseconds, and reports whether it has it. */
    boolean take(long wait) throws InterruptedException;

    void give();

    /** Whether nobody else may have it meanwhile. */
    boolean alone();
  }

  /** Where those are who have the lock, as the workers in Go have it: see room.go. */
  private static class Room {
    private static final VarHandle WORD =
        MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long ONE = 1L << 32;

    private final ByteBuffer memory;
    private final long limit;

    /** Opens one that other processes have too, or that of this one if it has no name. */
    Room(String job, String name) throws Exception {
      long permits = Long.parseLong(field(job, "Permits"));
      limit = permits > 0 ? permits : Integer.MAX_VALUE;
      if (name.isEmpty()) {
        memory = ByteBuffer.allocateDirect(16).alignedSlice(8);
        return;
      }
      try (FileChannel file =
          FileChannel.open(Path.of(name), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        memory = file.map(FileChannel.MapMode.READ_WRITE, 0, 8);
      }
    }

    /** Goes inside, and reports whether that is allowed by those who are there. */
    boolean comeIn(boolean alone) {
      if (alone) {
        return (long) WORD.getAndAdd(memory, 0, ONE) == 0;
      }
      return (long) WORD.getAndAdd(memory, 0, 1L) < limit;
    }

    void goOut(boolean alone) {
      WORD.getAndAdd(memory, 0, alone ? -ONE : -1L);
    }
  }

  /** What was counted in a race. */
  private static class Tally {
    final List<Long> counts = new ArrayList<>();
    final Map<Integer, Long> times = new TreeMap<>();
    long violations;
    long elapsed;

    /** Returns it as JSON. */
    @Override
    public String toString() {
      return String.format(
          "{\"Counts\":%s,\"Times\":{%s},\"Elapsed\":%d,\"Violations\":%d}",
          counts,
          times.entrySet().stream()
              .map(e -> "\"" + e.getKey() + "\":" + e.getValue())
              .collect(Collectors.joining(",")),
          elapsed,
          violations);
    }
  }

  /** Has as many threads have the lock for so many nanoseconds, each time for as long as stay. */
  private static Tally race(Lock lock, Room room, int threads, long length, long stay) throws Exception {
    List<Racer> racers = new ArrayList<>();
    long began = System.nanoTime();
    for (int i = 0; i < threads; i++) {
      Racer racer = new Racer(lock, room, began + length, stay);
      racers.add(racer);
      racer.start();
    }
    Tally tally = new Tally();
    for (Racer racer : racers) {
      racer.join();
      if (racer.failure != null) {
        throw racer.failure;
      }
      tally.counts.add(racer.count);
      tally.violations += racer.violations;
      racer.times.forEach((bucket, n) -> tally.times.merge(bucket, n, Long::sum));
    }
    tally.elapsed = System.nanoTime() - began;
    return tally;
  }

  private static class Racer extends Thread {
    private final Lock lock;
    private final Room room;
    private final long end;
    private final long stay;
    private final Map<Integer, Long> times = new TreeMap<>();
    private long count;
    private long violations;
    private Exception failure;

    Racer(Lock lock, Room room, long end, long stay) {
      this.lock = lock;
      this.room = room;
      this.end = end;
      this.stay = stay;
    }

    @Override
    public void run() {
      try {
        raceOn();
      } catch (Exception e) {
        failure = e;
      }
    }

    private void raceOn() throws InterruptedException {
      for (long began = System.nanoTime(); began < end; began = System.nanoTime()) {
        Turn turn = lock.next();
        boolean taken = turn.take(Math.max((end - began) / 1_000_000, 1));
        times.merge(bucket(System.nanoTime() - began), 1L, Long::sum);
        if (!taken) {
          return;
        }
        if (!room.comeIn(turn.alone())) {
          violations++;
        }
        if (stay > 0) {
          LockSupport.parkNanos(stay);
        }
        room.goOut(turn.alone());
        turn.give();
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

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** A worker with Redisson's locks. The subject's name says which lock it is. */
public class Redissons implements Worker.Library {
  private final RedissonClient redisson;

  private Redissons(String job) {
    Config config = new Config();
    config.setLockWatchdogTimeout(30_000);
    config.setCodec(StringCodec.INSTANCE);
    config.useSingleServer().setAddress("redis://" + Worker.field(job, "Addr"));
    redisson = Redisson.create(config);
  }

  public static void main(String[] args) throws Exception {
    Worker.work(Redissons::new);
  }

  @Override
  public void close() {
    redisson.shutdown();
  }

  @Override
  public Worker.Lock lock(String job, String key) {
    switch (Worker.field(job, "Subject")) {
      case "redisson-fair":
        return () -> new FairMutex(redisson.getFairLock(key));
      case "redisson-rlock":
        return () -> new Mutex(redisson.getLock(key), true);
      case "redisson-rw":
        RReadWriteLock sides = redisson.getReadWriteLock(key);
        int reads = Integer.parseInt(Worker.field(job, "Reads"));
        Mutex reader = new Mutex(sides.readLock(), false);
        Mutex writer = new Mutex(sides.writeLock(), true);
        return () -> ThreadLocalRandom.current().nextInt(100) < reads ? reader : writer;
      case "redisson-semaphore":
        RPermitExpirableSemaphore permits = redisson.getPermitExpirableSemaphore(key);
        permits.trySetPermits(Integer.parseInt(Worker.field(job, "Permits")));
        return () -> new Permit(permits);
      default:
        throw new IllegalArgumentException(job);
    }
  }

  private record Mutex(RLock lock, boolean alone) implements Worker.Turn {
    @Override
    public boolean take(long wait) throws InterruptedException {
      return lock.tryLock(wait, TimeUnit.MILLISECONDS);
    }

    @Override
    public void give() {
      lock.unlock();
    }
  }

  /** One that is waited for without an end: a thread whose wait has one may be put out of the line for it. */
  private record FairMutex(RLock lock) implements Worker.Turn {
    @Override
    public boolean take(long wait) {
      lock.lock();
      return true;
    }

    @Override
    public void give() {
      lock.unlock();
    }

    @Override
    public boolean alone() {
      return true;
    }
  }

  private static class Permit implements Worker.Turn {
    private final RPermitExpirableSemaphore permits;
    private String id;

    Permit(RPermitExpirableSemaphore permits) {
      this.permits = permits;
    }

    @Override
    public boolean take(long wait) throws InterruptedException {
      id = permits.tryAcquire(wait, 30_000, TimeUnit.MILLISECONDS);
      return id != null;
    }

    @Override
    public void give() {
      permits.release(id);
    }

    @Override
    public boolean alone() {
      return false;
    }
  }
}

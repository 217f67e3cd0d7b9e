import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryForever;

/** A worker with Curator's InterProcessMutex. */
public class Curators implements Worker.Library {
  private static final int SESSION = 40_000;

  private final CuratorFramework client;

  private Curators(String job) throws InterruptedException {
    client = CuratorFrameworkFactory.newClient(Worker.field(job, "Addr"), SESSION, SESSION, new RetryForever(100));
    client.start();
    if (!client.blockUntilConnected(SESSION, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("not connected");
    }
  }

  public static void main(String[] args) throws Exception {
    Worker.work(Curators::new);
  }

  @Override
  public void close() {
    client.close();
  }

  @Override
  public Worker.Lock lock(String job, String key) {
    Mutex mutex = new Mutex(new InterProcessMutex(client, "/bench/" + key.replace('/', '-')));
    return () -> mutex;
  }

  private record Mutex(InterProcessMutex lock) implements Worker.Turn {
    @Override
    public boolean take(long wait) throws InterruptedException {
      try {
        return lock.acquire(wait, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void give() {
      try {
        lock.release();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public boolean alone() {
      return true;
    }
  }
}

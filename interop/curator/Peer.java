import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;

/**
 * A program with Curator's recipes, driven by lines on its standard input: "id thread command path [argument]". Each is
 * answered by "id result", or "id error: text". Commands of one thread run one after another on one Java thread,
 * because that is who owns a lock there.
 *
 * <p>Its arguments are the servers' addresses, and the session's time-out in milliseconds.
 */
public class Peer {
  private static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    int session = Integer.parseInt(args[1]);
    CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], session, session, new RetryForever(100));
    client.start();
    if (!client.blockUntilConnected(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("not connected");
    }
    Recipes recipes = new Recipes(client);
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      threads
          .computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor())
          .execute(() -> answer(recipes, words));
    }
    System.exit(0);
  }

  private static void answer(Recipes recipes, String[] words) {
    String text;
    try {
      text = String.valueOf(recipes.run(words[2], words[3], words.length > 4 ? words[4] : "0"));
    } catch (Throwable e) {
      text = "error: " + e;
    }
    synchronized (System.out) {
      System.out.println(words[0] + " " + text);
    }
  }
}

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.TimeZone;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * A program with ShedLock, driven by lines on its standard input: "id thread command name argument". Each is answered by
 * "id result", or "id error: text". Commands of one thread run one after another.
 *
 * <p>Its arguments are where the database is, an account, its password, and whose time is used: "database", or "client".
 */
public class Peer {
  private static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    JdbcTemplate template = new JdbcTemplate(new DriverManagerDataSource(args[0], args[1], args[2]));
    Configuration.Builder configuration = Configuration.builder().withJdbcTemplate(template);
    if (args[3].equals("database")) {
      configuration.usingDbTime();
    } else {
      TimeZone.setDefault(TimeZone.getTimeZone("America/Los_Angeles"));
      configuration.withTimeZone(TimeZone.getTimeZone("UTC"));
    }
    LockProvider provider = new JdbcTemplateLockProvider(configuration.build());
    Tasks tasks = new Tasks(provider);
    template.queryForObject("SELECT count(*) FROM shedlock", Integer.class);
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      threads
          .computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor())
          .execute(() -> answer(tasks, words));
    }
    System.exit(0);
  }

  private static void answer(Tasks tasks, String[] words) {
    String text;
    try {
      text = String.valueOf(tasks.run(words[2], words[3], Long.parseLong(words[4])));
    } catch (Throwable e) {
      text = "error: " + e;
    }
    synchronized (System.out) {
      System.out.println(words[0] + " " + text);
    }
  }
}

import org.redisson.client.codec.StringCodec;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;

/** How the program is connected. */
final class Setting {
  private Setting() {}

  /**
   * Connects to one server, or to a cluster if there are several addresses.
   *
   * @param publishing OFF or ON in a cluster, where this version can be told; AUTO leaves it to Redisson
   */
  static Config of(String addresses, long watchdog, String publishing) throws ReflectiveOperationException {
    Config config = new Config();
    config.setLockWatchdogTimeout(watchdog);
    config.setCodec(StringCodec.INSTANCE);
    String[] nodes = addresses.split(",");
    if (nodes.length == 1) {
      config
          .useSingleServer()
          .setAddress(nodes[0])
          .setConnectionMinimumIdleSize(2)
          .setSubscriptionConnectionMinimumIdleSize(1);
      return config;
    }
    ClusterServersConfig cluster =
        config
            .useClusterServers()
            .addNodeAddress(nodes)
            .setMasterConnectionMinimumIdleSize(2)
            .setSubscriptionConnectionMinimumIdleSize(1);
    if (!publishing.equals("AUTO")) {
      publish(cluster, publishing);
    }
    return config;
  }

  /** By its name, because the oldest version that this is compiled with lacks it. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static void publish(ClusterServersConfig cluster, String publishing) throws ReflectiveOperationException {
    Class mode = Class.forName("org.redisson.config.ShardedSubscriptionMode");
    cluster.getClass().getMethod("setShardedSubscriptionMode", mode).invoke(cluster, Enum.valueOf(mode, publishing));
  }
}

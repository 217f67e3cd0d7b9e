// Package etcd has no code but tests: they drive etcdctl and the lock and the election of etcd's own client, each a
// process of its own, beside Bedrock on one cluster.
package etcd

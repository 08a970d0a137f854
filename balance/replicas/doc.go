// Package replicas decides which slaves are replicas of which shards. It reads a cluster, has
// verify compare what slaves hold that are to join a set, and adds to an edit who joins, leaves, or gets which
// shard (Arrange).
package replicas

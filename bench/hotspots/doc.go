// Package hotspots repeats the experiment of Scherzinger and Thor, "AutoShard – Declaratively
// Managing Hot Spot Data Objects in NoSQL Document Stores", WebDB 2014, §5 and figure 6: many
// users vote on few questions at once, with votes in one row and in ten shards, with and
// without retries. The number of users (2,000) is from Thor's talk of the same year. The
// package goes on where the paper stops: it compares static, dynamic and adaptive counters as
// load rises and falls, and numbers of shards.
//
// Updates are those of package counters. The single row is read and put by hand, as in the
// paper's naive implementation. Google Datastore is not reproduced. Conflicts there depend on
// the time between a transaction's read and its put, which the paper does not give. With 70 to
// 80 ms before each put, the single row fails as often as the paper says. Without this delay a
// put takes a millisecond, and there are hardly any conflicts.
package hotspots

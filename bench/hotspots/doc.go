// Package hotspots repeats the experiment of Scherzinger and Thor, "AutoShard –
// Declaratively Managing Hot Spot Data Objects in NoSQL Document Stores", WebDB 2014, §5
// and figure 6: users who vote on few questions at once, with votes in one row and in ten
// shards, without and with retries. The number of users (2,000) is from Thor's talk of the
// same year. It goes on where the paper stops: static, dynamic and adaptive counters beside
// each other as load rises and falls, and the number of shards.
//
// Updates are those of package counters; the single row is read and put by hand, as the paper's
// naive implementation does. Google Datastore is not repeated. Conflicts there depend on the
// time between a transaction's read and its put, which the paper does not give; with 70 to 80
// ms before each put the single row fails as often as the paper says. Without them a put takes
// a millisecond, and hardly any conflict.
package hotspots

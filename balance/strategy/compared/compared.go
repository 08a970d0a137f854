// Package compared has strategies of papers that are only for comparison, one per file,
// each with its source. A cluster can switch to them as to any other strategy, but none is
// recommended, and none runs in shadow. To add one: write a file with it, add its name at
// the end of Names, and a case to Read and to Summary.
package compared

import (
	"adshard/balance"
	"adshard/balance/strategy/options"
)

// Names returns the names of the strategies.
func Names() []string {
	return []string{
		consistentRandomName, consistentEqualName, consistentFixedName, rendezvousName,
		raoOneName, raoManyName, raoPoolName, cassandraName, srinivasanName, autoplacerName, esdbName, slicerName,
	}
}

// Read returns the strategy with a name and the options that a reader has, or nil if there
// is no such strategy.
func Read(r *options.Reader, name string) balance.Strategy {
	switch name {
	case consistentRandomName:
		return ConsistentRandom{readTokens(r)}
	case consistentEqualName:
		return readConsistentEqual(r)
	case consistentFixedName:
		return readConsistentFixed(r)
	case rendezvousName:
		return readRendezvous(r)
	case raoOneName, raoManyName, raoPoolName:
		return readRao(r, name)
	case cassandraName:
		return readCassandra(r)
	case srinivasanName:
		return readSrinivasan(r)
	case autoplacerName:
		return readAutoplacer(r)
	case esdbName:
		return readESDB(r)
	case slicerName:
		return Slicer{}
	}
	return nil
}

// Summary describes a strategy and its source in one line. It returns "" if there is no
// such strategy.
func Summary(name string) string {
	switch name {
	case consistentRandomName:
		return "consistent hashing with random tokens, regardless of the load"
	case consistentEqualName:
		return "consistent hashing of equal ranges to random tokens, regardless of the load"
	case consistentFixedName:
		return "equal ranges dealt to shards, regardless of the load (Dynamo, SOSP 2007)"
	case rendezvousName:
		return "rendezvous hashing: an ad group is where its hash with the shard is highest, regardless of the load"
	case raoOneName:
		return "consistent hashing; light shards draw heavy ones and take a slice (Rao et al., 2003)"
	case raoManyName:
		return "consistent hashing; heavy shards draw light ones and give a slice to the lightest (Rao et al., 2003)"
	case raoPoolName:
		return "consistent hashing; heavy shards put slices into a pool for light ones (Rao et al., 2003)"
	case cassandraName:
		return "consistent hashing; borders of hot slices shift towards lighter neighbours (Cassandra, 2010)"
	case srinivasanName:
		return "consistent hashing; hot ranges split, cold ones merge, beside each other only (Srinivasan and Varma)"
	case autoplacerName:
		return "consistent hashing; in each round the hottest ad groups not considered yet are placed anew (Autoplacer, TAAS 2014)"
	case esdbName:
		return "spreads each advertiser over 1, 2, 4, … shards by what it stores and by its load; nothing shrinks (ESDB, SIGMOD 2022)"
	case slicerName:
		return "Slicer's Weighted-Move as published: gain over churn, 9 % of all ad groups an iteration, no dead band (OSDI 2016)"
	}
	return ""
}

// NeedsOwners says what a strategy does with single owners, for which it needs keys in the
// order ByOwner. It returns "" if the strategy works in any order.
func NeedsOwners(name string) string {
	if name == esdbName {
		return "spreads advertisers one by one"
	}
	return ""
}

package strategy

// Summary describes a strategy and its source in one line; "" for an unknown one.
func Summary(name string) string {
	switch name {
	case originalName:
		return "packs whole advertisers by weight, at the start and each night, and moves nothing in between (thesis 2.4)"
	case randomName:
		return "places single items on random nodes, regardless of their load (thesis 6.5)"
	case weightedMoveName:
		return "merges cool slices, moves hot ones by gain over cost, splits those too hot to move (Slicer, OSDI 2016)"
	case weightedMoveFastName:
		return "weighted-move with constants that reach balance within a minute"
	case consistentRandomName:
		return "consistent hashing with random tokens, regardless of the load (thesis 4.4.1, strategy 1)"
	case consistentEqualName:
		return "consistent hashing of equal ranges to random tokens, regardless of the load (thesis 4.4.1, strategy 2)"
	case consistentFixedName:
		return "equal ranges dealt to nodes, regardless of the load (thesis 4.4.1, strategy 3; Dynamo, SOSP 2007)"
	case rendezvousName:
		return "rendezvous hashing: an item is where its hash with the node is highest, regardless of the load (thesis 4.7)"
	case raoOneName:
		return "consistent hashing; light nodes draw heavy ones and take a slice (Rao et al., 2003; thesis 4.4.2)"
	case raoManyName:
		return "consistent hashing; heavy nodes draw light ones and give a slice to the lightest (Rao et al., 2003; thesis 4.4.2)"
	case raoPoolName:
		return "consistent hashing; heavy nodes put slices into a pool for light ones (Rao et al., 2003; thesis 4.4.2)"
	case cassandraName:
		return "consistent hashing; borders of hot slices shift towards lighter neighbours (Cassandra, 2010; thesis 4.4.2)"
	case srinivasanName:
		return "consistent hashing; hot ranges split, cold ones merge, beside each other only (Srinivasan and Varma; thesis 4.4.2)"
	case autoplacerName:
		return "consistent hashing; in each round the hottest items not considered yet are placed anew (Autoplacer, TAAS 2014; thesis 4.6)"
	case topicsName:
		return "weighted-move-fast, and spreads each hot topic evenly while load stays in band, by what slaves sample"
	case esdbName:
		return "spreads each advertiser over 1, 2, 4, … shards by what it stores and by its load; nothing shrinks (ESDB, SIGMOD 2022)"
	}
	return ""
}

package stream

import (
	"adshard/fault"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

// version is the highest version of the protocol that this program speaks, and oldest is the
// lowest.
const (
	version = 3
	oldest  = 1
	// withContext is the first version whose slaves understand a request's context.
	withContext = 2
	// withCorrections is the first version whose slaves know the level at which corrected words agree.
	withCorrections = 3
)

// Most is the largest number of asks that one stream may have under way.
const Most = wire.MaxSearches

// meet returns an error if two peers cannot work together.
func meet(master, slave *pb.Hello) error {
	const op = "stream: open"
	switch {
	case min(master.GetVersion(), slave.GetVersion()) < oldest:
		return fault.Newf(fault.Version, op, "versions %d and %d of the protocol have nothing in common; update the older program", master.GetVersion(), slave.GetVersion())
	case master.GetVersion() >= withContext && slave.GetVersion() < withContext:
		return fault.Newf(fault.Version, op, "%s knows no context of requests and would show ads that targeting or blocks exclude: update it", slave.GetName())
	case master.GetName() != slave.GetName():
		return fault.Newf(fault.Conflict, op, "the slave is %s, not %s; check the addresses that slaves advertise", slave.GetName(), master.GetName())
	case master.GetWanted() != 0 && slave.GetInstance() != 0 && master.GetWanted() != slave.GetInstance():
		return fault.Newf(fault.Conflict, op, "%s is not the replica that the map names: it has another directory, or an emptied one", slave.GetName())
	case master.GetDatabase() != "" && slave.GetDatabase() != "" && master.GetDatabase() != slave.GetDatabase():
		return fault.Newf(fault.Conflict, op, "%s holds data of database %q, not of %q", slave.GetName(), slave.GetDatabase(), master.GetDatabase())
	case master.GetWords() != slave.GetWords():
		return fault.Newf(fault.Version, op, "%s", words.Differ("the master", master.GetWords(), slave.GetName(), slave.GetWords()))
	}
	return nil
}

// limitOf returns how many asks a slave accepts on a stream.
func limitOf(slave *pb.Hello) int {
	if n := slave.GetLimit(); n > 0 && n < Most {
		return int(n)
	}
	return Most
}

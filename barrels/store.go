package barrels

import (
	"context"

	"adshard/barrels/kv"
	"adshard/schema/pb"
	"adshard/search"
)

// Store is the barrels of one slave. Searches may run while one Apply runs;
// there is one writer at a time.
//
// A request fails with fault.Unavailable in a view newer than the store's table, with fault.Stale
// in one no longer served, and with fault.Conflict for another shard.
type Store interface {
	search.Searcher
	search.Explainer
	// Apply applies one bucket whole or not at all, with one exception: many groups in cleared
	// intervals are removed beforehand in separate batches, to bound memory, if no slice there is
	// full or filled so far. A bucket that does not begin at Position is refused with fault.Stale.
	// A bucket of another database is refused with fault.Conflict, unless it resets the store. A
	// full disk is fault.NoSpace and leaves the store serving as before.
	Apply(ctx context.Context, data *pb.NodeData) error
	// ApplyParts is Apply for a bucket with groups whose keywords come in parts (pb.Item.parts).
	// Each part is requested twice, in order: first to be checked, then to be written. A group with
	// many changed keywords is written in several batches, to bound memory; searches see all of
	// them at once, with the bucket. If a later batch fails or the process ends in between, the
	// group's slice is discarded as if its data were damaged, unless the store does not claim to
	// have the group yet.
	ApplyParts(ctx context.Context, data *pb.NodeData, parts Parts) error
	// Position is the end of the last bucket applied; the zero position of an
	// empty store.
	Position() *pb.Position
	// Slices is the table of slices as last applied. It is shared: it must not be
	// changed.
	Slices() *pb.SliceTable
	// Certify sums what searches really read of the groups with keys lo to hi, both inclusive,
	// whose bin (Bin) is among bins (bit i stands for bin i), of their parents and of the named
	// parents. It reads the newest state, concurrently with searches and Apply. A posting that is
	// missing, different or extra makes its bin's sum differ. Cached copies are compared with the
	// stored bytes, and dropped where they differ. Errors: fault.Corrupt for damaged bytes, those
	// of ctx.
	Certify(ctx context.Context, lo, hi, bins uint64, parents []Parent) (*Certificate, error)
	// Discard stops serving the slices that overlap any of these intervals (disjoint, ascending) at
	// the same position, and removes all data in them, so that they can be filled again. It also
	// completes what an earlier call or process began. Errors: fault.Corrupt when it needs bytes
	// that cannot be read (only Renew helps then); those of ctx.
	Discard(ctx context.Context, list []*pb.Interval) error
	// Purging reports whether an earlier Discard is not complete.
	Purging() bool
	// Renew empties the store and recreates its files, whatever their state. Searches wait
	// meanwhile, and find nothing afterwards.
	Renew() error
	// Checkpoint copies the store at its present position to dir, sharing its files, and returns
	// what is in the copy. dir must not exist. Buckets wait meanwhile, searches do not. Errors:
	// fault.Unavailable for a store without files, fault.NoSpace.
	Checkpoint(dir string) (*Contents, error)
	// Reload opens the store's files again: a copy that is complete in its directory
	// (rocks.Complete) is the store from then on. Searches wait meanwhile.
	Reload() error
	// Present fails, with fault.NotFound, when the store's files are no longer
	// where they were opened.
	Present() error
	// Unverified reports whether the store was opened after an unclean end, and Verified was not
	// called since: its data must be compared with the source of truth.
	Unverified() bool
	// Verified records durably that they have been compared.
	Verified() error
	// OnDamage sets the function that is called when searches, certificates or explanations find
	// damage. It is called from many goroutines and must be quick.
	OnDamage(report func(Damage))
	// SetCaughtUp sets whether the store has all its data. While it does not, it
	// serves what it has with a width of 0. Stores open caught up.
	SetCaughtUp(bool)
	// Maintain does background work until none is left or ctx ends: it fills blocks, chooses new
	// anchors, tightens bounds, and removes parents without groups.
	Maintain(ctx context.Context) error
	// Warm prepares the posting lists that are not cached, those with the most postings first, until
	// all are or three quarters of the memory of lists are used, and returns how many it has prepared.
	// It runs beside searches and changes, pauses for searches, and ends early with ctx.
	Warm(ctx context.Context) (lists int)
	// CountLoad makes the store count the load of one search in n; 0: of none. Stores open with
	// DefaultCountEvery.
	CountLoad(every int)
	// TakeLoad returns what searches have cost since the last call, estimated from the counted
	// ones: by generation of a slice in the view served, and for the most expensive groups and
	// anchor terms. Skipped postings, groups that are not served, and explanations cost nothing.
	// Its number is left 0.
	TakeLoad() *pb.Load
	// Stats returns sizes.
	Stats() Stats
	Close() error
}

// Stats is the size of a store.
type Stats struct {
	Groups, Keywords, Postings, Blocks, Terms uint64
	Campaigns, Advertisers                    uint64
	// DiskBytes is the size of the files; 0 in memory.
	DiskBytes uint64
	// BadBlocks is the number of damaged blocks found since the store was opened.
	BadBlocks uint64
	Memory    Memory
	// DB is the activity of the database.
	DB kv.Statistics
}

// Memory is a store's use of memory, in bytes.
type Memory struct {
	// DB is the memory of the database.
	DB kv.Memory
	// Terms and Parents are there from the beginning; Lists, Groups and Hosts (the sets to which the ads of groups lead) are caches.
	Terms, Parents, Lists, Groups, Hosts uint64
}

package barrels

import (
	"context"

	"adshard/barrels/kv"
	"adshard/schema/pb"
	"adshard/search"
)

// Store holds the barrels of one slave. Searches may run while an Apply runs. There is one writer at a time.
//
// A request fails with fault.Unavailable if its view is newer than the store's table, with fault.Stale if its view is no longer
// served, and with fault.Conflict if it is for another shard.
type Store interface {
	search.Searcher
	search.Explainer
	// Apply applies all of a bucket or nothing, with one exception: to bound memory, many groups in cleared intervals are removed
	// beforehand in separate batches, unless a slice there is full or has already been filled there. Apply returns fault.Stale for a
	// bucket that does not begin at Position, and fault.Conflict for a bucket of another database, unless it resets the store. If
	// the disk is full, it returns fault.NoSpace, and the store serves as before.
	Apply(ctx context.Context, data *pb.NodeData) error
	// ApplyParts is Apply for a bucket with groups whose keywords come in parts (pb.Item.parts). It requests each part twice, in
	// order: first to check it, then to write it. To bound memory, it writes a group with many changed keywords in several batches;
	// searches see all of them at once, with the bucket. If a later batch fails or the process ends in between, the group's slice is
	// discarded as if its data were damaged, unless the store does not claim to have the group yet.
	ApplyParts(ctx context.Context, data *pb.NodeData, parts Parts) error
	// Position returns the end of the last bucket applied, or the zero position if the store is empty.
	Position() *pb.Position
	// Slices returns the table of slices as last applied. It is shared and must not be changed.
	Slices() *pb.SliceTable
	// Certify sums what searches really read of certain groups: those with keys lo to hi, both inclusive, whose bin (certify.Bin) is
	// in bins (bit i stands for bin i). It also sums their parents and the named parents. It reads the newest state, concurrently
	// with searches and Apply. A missing, different or extra posting changes the sum of its bin. Cached copies are compared with the
	// stored bytes, and dropped if they differ. Errors: fault.Corrupt for damaged bytes, those of ctx.
	Certify(ctx context.Context, lo, hi, bins uint64, parents []Parent) (*Certificate, error)
	// Discard stops serving the slices that overlap any of the intervals, which must be disjoint and ascending. It then removes all
	// data in them, so that they can be filled again. The position does not change. Discard also completes what an earlier call or
	// process began. Errors: fault.Corrupt if it needs bytes that cannot be read (only Renew helps then), and those of ctx.
	Discard(ctx context.Context, list []*pb.Interval) error
	// Purging reports whether an earlier Discard is still incomplete.
	Purging() bool
	// Renew empties the store and recreates its files, whatever their state. Searches wait meanwhile and find nothing afterwards.
	Renew() error
	// Checkpoint copies the store at its present position to dir, sharing its files, and returns a description of the copy. dir must
	// not exist. Buckets wait meanwhile, searches do not. Errors: fault.Unavailable if the store has no files, fault.NoSpace.
	Checkpoint(dir string) (*Contents, error)
	// Reload opens the store's files again. If its directory has a complete copy (rocks.Complete), the copy is the store from then
	// on. Searches wait meanwhile.
	Reload() error
	// Present returns fault.NotFound if the store's files are no longer where they were opened.
	Present() error
	// Unverified reports whether the store was opened after an unclean end and Verified has not been called since. Its data must
	// then be compared with the source of truth.
	Unverified() bool
	// Verified records durably that the data have been compared.
	Verified() error
	// OnDamage sets the function that is called if searches, certificates or explanations find damage. It is called from many
	// goroutines and must be quick.
	OnDamage(report func(Damage))
	// SetCaughtUp sets whether the store has all its data. Until then, the store serves what it has with a width of 0. A store that
	// was just opened counts as caught up.
	SetCaughtUp(bool)
	// Maintain does background work until none is left or ctx ends: it joins small blocks, chooses new anchors, tightens bounds, and
	// removes parents without groups.
	Maintain(ctx context.Context) error
	// Warm prepares the posting lists that are not cached, the longest first, until all are cached or three quarters of the memory for
	// lists are used. With what is left of these it computes impacts: on the devices that were asked for first, of the lists that were
	// used first. Then it caches groups likewise. It returns how many lists it has prepared. It can run during searches and changes,
	// pauses for searches, and ends early if ctx ends.
	Warm(ctx context.Context) (lists int)
	// CountLoad makes the store count the load of one search in `every`, or of none if it is 0. The default is DefaultCountEvery.
	CountLoad(every int)
	// TakeLoad returns what searches have cost since the last call, estimated from the counted searches: by slice and generation in
	// the view served, and for the most expensive groups and anchor terms. Skipped postings, groups that are not served, and
	// explanations cost nothing. It does not set the load's number.
	TakeLoad() *pb.Load
	// Stats returns the sizes of the store.
	Stats() Stats
	Close() error
}

// Stats are the sizes of a store.
type Stats struct {
	Groups, Keywords, Postings, Blocks, Terms uint64
	Campaigns, Advertisers                    uint64
	// DiskBytes is the size of the files, or 0 for a store in memory.
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
	// Terms and Parents are always loaded. Lists, Groups and Hosts (the sets of hosts to which the ads of groups lead) are caches.
	Terms, Parents, Lists, Groups, Hosts uint64
}

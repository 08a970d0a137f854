package search

// Missing is a shard that is missing from an answer, wholly or in part.
type Missing struct {
	Shard  string
	Reason Reason
}

// Reason is why a shard is missing.
type Reason uint8

// The reasons. Late to Failed, and Version, mean that the shard gave no usable answer; Behind and
// Damaged, that it answered, but served less than its part of the ring.
const (
	Late        Reason = iota // it did not answer in time
	Silent                    // it has stopped answering; no requests go to it until it answers a probe
	Unreachable               // there is no connection to it, or it cannot serve this map yet
	Refused                   // it has too many searches under way
	Outdated                  // it no longer serves the master's map, and no newer map came in time
	Foreign                   // its address leads to another slave, or it holds another database's data
	Excess                    // it served more than its part, so its answer is dropped
	Failed                    // it failed, most likely because of a defect
	Behind                    // it does not hold all of its part yet: it is being filled or is catching up
	Damaged                   // it found damaged data and leaves out the groups they belong to
	Version                   // its program has another version, for example other rules for words
	Reasons     = iota        // number of reasons
)

var reasonNames = [Reasons]string{
	"late", "silent", "unreachable", "overloaded", "outdated", "foreign", "excess", "failed", "behind", "damaged", "version",
}

// String returns the reason's name in answers and metrics.
func (r Reason) String() string { return reasonNames[r] }

package choice

// Outcome is how a call to a replica ended.
type Outcome uint8

// The outcomes.
const (
	Full     Outcome = iota // it answered for all of its part
	Short                   // it answered for less than its part
	Lagging                 // its answer is older than it should be
	Outdated                // it does not serve the view
	Unmet                   // it lacks changes that this query needs
	Refused                 // it has too much to do
	Failed                  // it failed, or is another slave
	Broken                  // there is no connection to it
	GaveUp                  // there was no time left to wait
	Beaten                  // another replica, asked later, answered first
	Needless                // another replica, asked earlier, answered first
)

// ejects is the number of such outcomes in a row after which a replica is ejected; 0 means never.
var ejects = [...]int{Short: 1, Outdated: 3, Failed: 3, Broken: 1, Needless: 0}

// serves reports whether the replica answers for all of its part. A lagging replica is not left
// out: while nothing reaches the slaves, all of them lag.
func (o Outcome) serves() bool { return o == Full || o == Lagging }

// replied reports whether the outcome shows that the replica is alive.
func (o Outcome) replied() bool { return o < Broken }

// unheard reports whether the reply was no longer awaited when the call ended.
func (o Outcome) unheard() bool { return o >= GaveUp }

package auction

// MaxFactor is the highest factor of a scorer, in permille.
const MaxFactor = 2000

// Scorer says what a candidate's quality is worth in a request (serving.md §16). It is pure, and safe for concurrent use.
type Scorer interface {
	// For returns the scoring of a request's candidates.
	For(*Situation) Scoring
}

// Scoring scores the candidates of one request, in one goroutine.
type Scoring interface {
	// Most is a factor that no candidate of the request exceeds.
	Most() uint64
	// Factor returns f of a candidate, in permille, at most MaxFactor.
	Factor(*Features) uint64
	// Parts says what a candidate's factor is made of: the parts that are not 0, in the order of the features.
	Parts(*Features) []Part
}

// Situation is what a scorer may know of a request.
type Situation struct {
	Device  uint8
	Hour    uint8  // of its time, in UTC
	Weekday uint8  // of its time, in UTC; 0 is Sunday
	Words   uint8  // of the query, those that are ignored not counted
	Site    string // host of the page that asks; "": unknown
}

// Features are what a scorer may know of a candidate.
type Features struct {
	Match                uint8 // search.MatchType
	Words                uint8
	Quality              uint8 // 1 to 10
	Advertiser, Campaign uint64
}

// Part is what one feature adds to the sum of which a factor is made.
type Part struct {
	Feature string
	Value   string // "": it is of no feature, or of several
	Weight  int64
}

// Scored applies a factor, in permille, to Q of a candidate: it returns Q′ = floor(Q × f ÷ 1000) and the score B × Q′.
func Scored(effective, q, factor uint64) (scored, score uint64) {
	scored = mulDiv(q, factor, 1000)
	return scored, product(effective, scored)
}

// MostScored is what a score can become at most by a factor of at most most.
func MostScored(score, most uint64) uint64 { return mulDiv(score, most, 1000) }

// LeastUnscored returns the least score that a factor of at most most can make need: what is below it stays below need. It is 0 if
// need is.
func LeastUnscored(need, most uint64) uint64 {
	if need == 0 {
		return 0
	}
	return mulDivUp(need, 1000, max(most, 1))
}

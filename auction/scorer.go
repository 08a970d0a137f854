package auction

// MaxFactor is the highest factor of a scorer, in permille.
const MaxFactor = 2000

// Scorer decides what a candidate's quality is worth in a request (serving.md §16). It must be pure and safe for concurrent use.
type Scorer interface {
	// For returns the scoring of a request's candidates.
	For(*Situation) Scoring
}

// Scoring scores the candidates of one request. Only one goroutine may use it.
type Scoring interface {
	// Most returns a factor that no candidate of the request exceeds.
	Most() uint64
	// Factor returns f of a candidate in permille, at most MaxFactor.
	Factor(*Features) uint64
	// Parts returns what a candidate's factor is made of: the parts that are not 0, in the order of the features.
	Parts(*Features) []Part
}

// Situation is what a scorer may know about a request.
type Situation struct {
	Device  uint8
	Hour    uint8  // of the request's time, in UTC
	Weekday uint8  // of the request's time, in UTC; 0 is Sunday
	Words   uint8  // number of the query's words, without ignored ones
	Site    string // host of the page that sends the request; "": unknown
}

// Features are what a scorer may know about a candidate.
type Features struct {
	Match                uint8 // search.MatchType
	Words                uint8
	Quality              uint8 // 1 to 10
	Advertiser, Campaign uint64
}

// Part is what one feature adds to the sum from which a factor is computed.
type Part struct {
	Feature string
	Value   string // "" if the part belongs to no feature, or to several
	Weight  int64
}

// Scored applies a factor f, in permille, to a candidate's Q: it returns Q′ = floor(Q × f ÷ 1000) and the score B × Q′.
func Scored(effective, q, factor uint64) (scored, score uint64) {
	scored = mulDiv(q, factor, 1000)
	return scored, product(effective, scored)
}

// MostScored returns the highest score that a factor of at most `most` can make of a score.
func MostScored(score, most uint64) uint64 { return mulDiv(score, most, 1000) }

// LeastUnscored returns the lowest score that a factor of at most `most` can raise to the score `need`; lower scores stay below
// it. If `need` is 0, so is the result.
func LeastUnscored(need, most uint64) uint64 {
	if need == 0 {
		return 0
	}
	return mulDivUp(need, 1000, max(most, 1))
}

package targeting

// Verdict is why targeting or a block keeps a keyword from taking part.
type Verdict uint8

// The verdicts, in the order in which they are looked for.
const (
	Pass Verdict = iota
	NotStarted
	Ended
	OffSchedule
	LocationExcluded
	LocationUnknown
	LocationMissed
	LanguageMissed
	AudienceExcluded
	AudienceMissed
	SiteExcluded
	SiteMissed
	Blocked
)

// Default is the modifier that changes no bid, and MaxModifier the largest, both in permille.
const (
	Default     = 1000
	MaxModifier = 10_000
	minModifier = 100
)

// Factors are the modifiers of the four dimensions that have some, in permille.
type Factors struct{ Schedule, Location, Audience, Site uint16 }

// All returns the factors in the order in which they are multiplied.
func (f *Factors) All() [4]uint16 { return [4]uint16{f.Schedule, f.Location, f.Audience, f.Site} }

// neutral changes no bid.
var neutral = Factors{Default, Default, Default, Default}

// Apply returns M for a device's modifier (serving.md §12): each factor rounds down, and the last result is at most
// MaxModifier.
func (f *Factors) Apply(device uint64) uint64 {
	m := device
	for _, by := range f.All() {
		m = m * uint64(by) / 1000
	}
	return min(m, MaxModifier)
}

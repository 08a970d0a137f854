package targeting

// Verdict says why targeting or a block keeps a keyword from taking part.
type Verdict uint8

// The verdicts, in the order in which they are checked.
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

// Default is the modifier that leaves bids as they are, and MaxModifier the largest modifier, both in permille.
const (
	Default     = 1000
	MaxModifier = 10_000
	minModifier = 100
)

// Factors are the modifiers, in permille, of the four dimensions that have modifiers.
type Factors struct{ Schedule, Location, Audience, Site uint16 }

// All returns the factors in the order in which they are multiplied.
func (f *Factors) All() [4]uint16 { return [4]uint16{f.Schedule, f.Location, f.Audience, f.Site} }

// neutral leaves bids as they are.
var neutral = Factors{Default, Default, Default, Default}

// Apply returns M for a device's modifier (serving.md §12). It rounds down after each factor, and limits the last
// result to MaxModifier.
func (f *Factors) Apply(device uint64) uint64 {
	m := device
	for _, by := range f.All() {
		m = m * uint64(by) / 1000
	}
	return min(m, MaxModifier)
}

// Clamped reports whether the factors would make more than MaxModifier of a device's modifier.
func (f *Factors) Clamped(device uint64) bool {
	whole := device
	for _, by := range f.All() {
		whole = whole * uint64(by) / 1000
	}
	return whole > MaxModifier
}

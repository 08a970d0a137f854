package backend

// Hold says why a campaign or group is served as paused whatever its status is, or 0 if nothing holds it.
// It is kept beside the status, so that the status is what the data say once nothing holds it any more.
type Hold uint64

// The marks. Above them lies the import that has not ended yet.
const (
	// Refused: its own row was rejected in the file that made it.
	Refused Hold = 1 << iota
	// Ended: its end date is over.
	Ended

	holdMarks = 2
)

// MaxImport is the highest number of an import.
const MaxImport = 1<<(63-holdMarks) - 1

// HeldBy returns the hold of what the import of a number makes, until the end of its file.
func HeldBy(number uint64) Hold { return Hold(number&MaxImport) << holdMarks }

// Import is the number of the import by which it is held, or 0 if by none.
func (h Hold) Import() uint64 { return uint64(h >> holdMarks) }

// Most is the highest hold of the same import.
func (h Hold) Most() Hold { return h | (1<<holdMarks - 1) }

// Marks are only the marks.
func (h Hold) Marks() Hold { return h & (1<<holdMarks - 1) }

// HoldChange changes what holds a campaign or group. Implementations are pointers, so that patches can be
// compared.
type HoldChange interface {
	// Change returns the new hold, of the present one; made: the very write makes the entity.
	Change(now Hold, made bool) Hold
}

// Held is a campaign or group with its hold.
type Held struct {
	ID, Owner uint64 // Owner: the advertiser of a campaign, the campaign of a group
	Name      string
	Hold      Hold
}

// HeldQuery selects campaigns, or groups. One field is set.
type HeldQuery struct {
	Groups bool // not campaigns
	// Import: those that the import of this number holds.
	Import uint64
	// Any: those that anything holds.
	Any bool
	// ID: the one with this id.
	ID uint64
	// Free: the groups of this campaign that nothing holds.
	Free uint64
}

// Served reports whether its status and its hold let the campaign be shown.
func (c *Campaign) Served() bool { return c.Enabled && c.Hold == 0 }

// Served reports whether its status and its hold let the group be shown.
func (g *Group) Served() bool { return g.Enabled && g.Hold == 0 }

// HoldTo returns the change that sets a hold.
func HoldTo(h Hold) HoldChange { return &holdTo{h} }

type holdTo struct{ hold Hold }

// Change implements HoldChange.
func (h *holdTo) Change(Hold, bool) Hold { return h.hold }

// Why something is served as paused whatever its status is, as data and answers name it.
const (
	PausedByRow    = "refused_row"       // its own row was rejected
	PausedByEnd    = "end_date"          // its end date is over
	PausedByImport = "unfinished_import" // an import that made it has not come to the end of its file
)

// Reasons names what holds a campaign or group, or nil if nothing does.
func (h Hold) Reasons() (names []string) {
	if h&Refused != 0 {
		names = append(names, PausedByRow)
	}
	if h&Ended != 0 {
		names = append(names, PausedByEnd)
	}
	if h.Import() != 0 {
		names = append(names, PausedByImport)
	}
	return names
}

// Brief returns a hold with the same reasons, and the number of no real import.
func (h Hold) Brief() uint32 { return uint32(h.Marks() | HeldBy(min(h.Import(), 1))) }

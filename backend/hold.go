package backend

// Hold is the reason why a campaign or group is served as paused whatever its status is, or 0 if nothing holds it. It
// is stored apart from the status, so that the status is still known once nothing holds the entity any more.
type Hold uint64

// The marks. The bits above them are the number of the import that has not ended yet.
const (
	// Refused says that the entity's own row was rejected in the file that created it.
	Refused Hold = 1 << iota
	// Ended says that the entity's end date is over.
	Ended

	holdMarks = 2
)

// MaxImport is the highest number of an import.
const MaxImport = 1<<(63-holdMarks) - 1

// HeldBy returns the hold of the entities that the import with this number creates, which lasts until the end of its
// file.
func HeldBy(number uint64) Hold { return Hold(number&MaxImport) << holdMarks }

// Import returns the number of the import that holds the entity, or 0 if none does.
func (h Hold) Import() uint64 { return uint64(h >> holdMarks) }

// Most returns the highest hold of the same import.
func (h Hold) Most() Hold { return h | (1<<holdMarks - 1) }

// Marks returns the hold without the import.
func (h Hold) Marks() Hold { return h & (1<<holdMarks - 1) }

// HoldChange changes the hold of a campaign or group. Implementations are pointers, so that patches can be compared.
type HoldChange interface {
	// Change returns the new hold for the present one. made says that this write creates the entity.
	Change(now Hold, made bool) Hold
}

// Held is a campaign or group with its hold.
type Held struct {
	ID, Owner uint64 // Owner is the advertiser of a campaign or the campaign of a group
	Name      string
	Hold      Hold
}

// HeldQuery selects campaigns or, if Groups is set, groups. Exactly one of the other fields is set.
type HeldQuery struct {
	Groups bool // groups, not campaigns
	// Import selects those that the import with this number holds.
	Import uint64
	// Any selects those that are held for any reason.
	Any bool
	// ID selects the one with this id.
	ID uint64
	// Free selects the groups of this campaign that are not held.
	Free uint64
}

// Served reports whether the campaign's status and hold let it be shown.
func (c *Campaign) Served() bool { return c.Enabled && c.Hold == 0 }

// Served reports whether the group's status and hold let it be shown.
func (g *Group) Served() bool { return g.Enabled && g.Hold == 0 }

// HoldTo returns the change that sets a hold.
func HoldTo(h Hold) HoldChange { return &holdTo{h} }

type holdTo struct{ hold Hold }

// Change implements HoldChange.
func (h *holdTo) Change(Hold, bool) Hold { return h.hold }

// The names, in data and answers, of the reasons why an entity is served as paused whatever its status is.
const (
	PausedByRow    = "refused_row"       // its own row was rejected
	PausedByEnd    = "end_date"          // its end date is over
	PausedByImport = "unfinished_import" // an import that created it has not reached the end of its file
)

// Reasons returns the names of the reasons of a hold, or nil if there is none.
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

// Brief returns a hold with the same reasons. The number of an import in it is not that of a real one.
func (h Hold) Brief() uint32 { return uint32(h.Marks() | HeldBy(min(h.Import(), 1))) }

package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adshard/backend"
	"adshard/ingest/rejected"
)

// pausedReasons are those that a summary tells, in its order.
var pausedReasons = [...]string{backend.PausedByRow, backend.PausedByEnd, backend.PausedByImport}

// Shut is how many of the campaigns and groups that the files name are served as paused for a reason, and
// which, the first rejected.Listed of them.
type Shut struct {
	Why   string // backend.PausedByRow, PausedByEnd or PausedByImport
	Count int64
	First []ShutEntity
}

// ShutEntity is a campaign or, with a group, an ad group.
type ShutEntity struct{ Advertiser, Campaign, Group string }

// String returns the warning.
func (s *Shut) String() string {
	why := map[string]string{
		backend.PausedByRow:    "own row was rejected: correct the row and import it",
		backend.PausedByEnd:    "End Date is over, or cannot be read as 2026-03-31: import another End Date, or [] for none",
		pausedByReject:         "row or line restricts it and was rejected: correct it, and import it with Campaign Status Enabled",
		backend.PausedByImport: "import has not come to the end of its file: import the same file again",
	}[s.Why]
	text := fmt.Sprintf("%d served as paused, whose %s:", s.Count, why)
	for i, e := range s.First {
		if i > 0 {
			text += ","
		}
		if text += " campaign " + rejected.Quote(e.Campaign); e.Group != "" {
			text += ", ad group " + rejected.Quote(e.Group)
		}
		text += " of " + rejected.Quote(e.Advertiser)
	}
	if more := s.Count - int64(len(s.First)); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Renamed is a campaign or, with a group, an ad group that got another name.
type Renamed struct {
	Advertiser, Campaign, Group string // as they are called now
	From                        string
}

// String returns what was done.
func (r *Renamed) String() string {
	if r.Group != "" {
		return fmt.Sprintf("ad group %s of campaign %s of %s was renamed to %s", rejected.Quote(r.From), rejected.Quote(r.Campaign), rejected.Quote(r.Advertiser), rejected.Quote(r.Group))
	}
	return fmt.Sprintf("campaign %s of %s was renamed to %s", rejected.Quote(r.From), rejected.Quote(r.Advertiser), rejected.Quote(r.Campaign))
}

// tellShut fills in what the summary says of the database as it is in the end.
func (r *run) tellShut(ctx context.Context) error {
	if len(r.restricts.order) == 0 && r.effects[backend.EntityCampaign].named.IsEmpty() && r.effects[backend.EntityCampaign].created.IsEmpty() {
		return nil
	}
	tx, err := r.store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	r.sum.Shut = r.paused.tell()
	if r.sum.Wider, err = r.restricts.list(ctx, tx); err != nil {
		return err
	}
	var found [2]shutLists
	for i, of := range []backend.Entity{backend.EntityCampaign, backend.EntityGroup} {
		var after uint64
		for n := heldTogether; n == heldTogether; {
			q := backend.HeldQuery{Groups: of == backend.EntityGroup, Any: true}
			n, err = tx.Held(ctx, q, after, heldTogether, func(h backend.Held) backend.Hold {
				if after = h.ID; r.effects.has(of, h.ID) {
					found[i].add(h)
				}
				return h.Hold
			})
			if err != nil {
				return err
			}
		}
	}
	return r.shut(ctx, found)
}

// shutLists are the entities of one kind that are shut, by reason.
type shutLists [len(pausedReasons)]struct {
	count int64
	first []backend.Held
}

func (l *shutLists) add(h backend.Held) {
	for i, name := range pausedReasons {
		if slices.Contains(h.Hold.Reasons(), name) {
			if l[i].count++; len(l[i].first) < rejected.Listed {
				l[i].first = append(l[i].first, h)
			}
		}
	}
}

// shut names what is shut.
func (r *run) shut(ctx context.Context, found [2]shutLists) error {
	var snapshot backend.Snapshot
	for i, name := range pausedReasons {
		campaigns, groups := &found[0][i], &found[1][i]
		s := Shut{Why: name, Count: campaigns.count + groups.count}
		if s.Count == 0 {
			continue
		}
		if snapshot == nil {
			var err error
			if snapshot, err = r.store.Snapshot(ctx); err != nil {
				return err
			}
			defer snapshot.Close()
		}
		for _, h := range campaigns.first {
			s.First = append(s.First, ShutEntity{Campaign: h.Name, Advertiser: advertiserName(ctx, snapshot, h.Owner)})
		}
		for _, h := range groups.first {
			if len(s.First) < rejected.Listed {
				s.First = append(s.First, groupName(ctx, snapshot, h))
			}
		}
		r.sum.Shut = append(r.sum.Shut, s)
	}
	return nil
}

// advertiserName is "" for one that was removed meanwhile.
func advertiserName(ctx context.Context, n backend.Snapshot, id uint64) string {
	if found, err := n.Advertisers(ctx, []uint64{id}); err == nil && len(found) > 0 {
		return found[0].Name
	}
	return ""
}

func groupName(ctx context.Context, n backend.Snapshot, h backend.Held) ShutEntity {
	e := ShutEntity{Group: h.Name}
	if found, err := n.Campaigns(ctx, []uint64{h.Owner}); err == nil && len(found) > 0 {
		e.Campaign, e.Advertiser = found[0].Name, advertiserName(ctx, n, found[0].AdvertiserID)
	}
	return e
}

var errPausedBy = errors.New("not a list of reasons: refused_row, end_date, unfinished_import; or null for none")

// pausedBy reads the field of campaigns and groups that says what holds them.
func (s *jsonSource) pausedBy() backend.Patch[backend.Hold] {
	switch v := &s.line.values[fieldPausedBy]; v.form {
	case formAbsent:
	case formNull:
		return backend.Patch[backend.Hold]{Op: backend.Reset}
	case formList:
		var h backend.Hold
		for _, name := range v.list {
			switch name {
			case backend.PausedByRow:
				h |= backend.Refused
			case backend.PausedByEnd:
				h |= backend.Ended
			case backend.PausedByImport:
				h |= backend.HeldBy(backend.MaxImport) // any
			default:
				s.note(fieldPausedBy, errPausedBy)
			}
		}
		return backend.To(h)
	default:
		s.note(fieldPausedBy, errPausedBy)
	}
	return backend.Patch[backend.Hold]{}
}

// settingsHold is what a change of a single campaign or group, outside of a file, does to its hold: only
// what it says. Enabling one lifts all but its end date, which is data like any other.
type settingsHold struct {
	pausedBy backend.Patch[backend.Hold]
	enables  bool
}

// Change implements backend.HoldChange.
func (c *settingsHold) Change(now backend.Hold, _ bool) backend.Hold {
	says := c.pausedBy.Value
	switch {
	case c.pausedBy.Op == backend.Set && says.Import() != 0 && now.Import() != 0:
		return now - now.Marks() + says.Marks()
	case c.pausedBy.Op == backend.Set && says.Import() != 0:
		return says.Marks() | backend.Refused
	case c.pausedBy.Op != backend.Unchanged:
		return says.Marks()
	case c.enables:
		return now & backend.Ended
	}
	return now
}

// pausedCell is the status for a file that has no column for holds.
func pausedCell(e *entry, status backend.Status) string {
	if e.pausedBy.Value != 0 && slices.Contains([]backend.Status{backend.Keep, backend.Enable}, status) {
		status = backend.Pause
	}
	return statusCells[status]
}

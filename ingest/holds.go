package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/cespare/xxhash/v2"

	"adshard/backend"
)

// Holds: nothing that a file creates is served before the end of the file, and an owner whose own row was rejected is
// not served at all (serving.md §7, "A refused owner stays shut").
//
// What could go wrong, and what is done about it:
//
//   - A wrong file: the own row of a campaign or group may be rejected before or after the rows that create it, may come
//     twice, once rejected and once not, or be cut off. So rejected own rows are remembered by their owner's name from
//     the reject to the file's end, and a reject outweighs all other rows of the file.
//   - A crash between two commits: holds are in the database with the rows that caused them. What a file creates is held by
//     the file's number, which follows from its first rows. So a second run recognises the file, and only the end of that
//     file releases what it has named.
//   - Another import at the same time, or instead: it has another number. It releases nothing that this one holds, except
//     owners for which it has an own row. Those it releases at its own end; groups that only their campaign has shut are then
//     held by the first import themselves. On PostgreSQL a hold is written only over the hold that was read.
//   - A file in two parts: each part is a file. The first releases what it has named. What the second names
//     exists by then.
//   - An owner that existed before is not held, and a rejected row does not change it.
//
// A group that is created in a campaign that the same import holds is not held itself, since the campaign's hold
// keeps it from being served. So an import of everything holds only campaigns, which costs nothing.
type holdings struct {
	number  uint64 // of the import
	refused map[uint64]struct{}
	seed    maphash.Seed
	// lifts holds the campaigns and groups that have another hold and whose own row was accepted.
	lifts [backend.EntityGroup + 1]roaring64.Bitmap
}

func newHoldings(number uint64) *holdings {
	return &holdings{number: number, refused: make(map[uint64]struct{}), seed: maphash.MakeSeed()}
}

// owned returns the kind of the entity whose own row e is. ok is false if e is not an own row of a campaign or group that
// it names.
func (e *entry) owned() (of backend.Entity, ok bool) {
	switch e.kind {
	case kindCampaign:
		return backend.EntityCampaign, e.advertiser != "" && e.campaign != ""
	case kindGroup:
		return backend.EntityGroup, e.advertiser != "" && e.campaign != "" && e.group != ""
	}
	return 0, false
}

// refuse notes that an owner's own row was rejected.
func (h *holdings) refuse(e *entry, of backend.Entity) { h.refused[h.key(e, of)] = struct{}{} }

// isRefused reports whether the own row of an owner of e was rejected.
func (h *holdings) isRefused(e *entry, of backend.Entity) bool {
	if len(h.refused) == 0 {
		return false
	}
	_, refused := h.refused[h.key(e, of)]
	return refused
}

func (h *holdings) key(e *entry, of backend.Entity) uint64 {
	var m maphash.Hash
	m.SetSeed(h.seed)
	names := [...]string{e.advertiser, e.campaign, e.group}
	for _, name := range names[:of+1] {
		m.WriteString(name)
		m.WriteByte(0)
	}
	return m.Sum64()
}

// rowHold is a row's change to the hold of its campaign or group.
type rowHold struct {
	of *holdings
	// own says that the row is the owner's own row and was accepted; refused, that an own row was rejected.
	own, refused bool
	// covered says that the same import holds the group's campaign.
	covered bool
	// pausedBy is the change that the row itself asks for.
	pausedBy backend.Patch[backend.Hold]
	// dated says that the row sets the campaign's end date. That removes the mark of a program that did not know end
	// dates.
	dated bool
	// holds and lifts are results: the import holds the owner; another hold is to be lifted.
	holds, lifts bool
}

// Change implements backend.HoldChange.
func (r *rowHold) Change(now backend.Hold, made bool) backend.Hold {
	if made && !r.covered {
		now = backend.HeldBy(r.of.number)
	}
	mine := now.Import() == r.of.number || now.Import() == 0 && r.covered
	others := now.Import() != 0 && now.Import() != r.of.number
	if r.own && r.pausedBy.Op != backend.Unchanged {
		says := r.pausedBy.Value
		now = now - now.Marks() + says.Marks()
		if says.Import() != 0 && !others {
			now |= backend.Refused // the import that held the owner belongs to another database
		}
		others = others && says.Import() == 0
	} else if r.own && !r.refused && now&backend.Refused != 0 {
		others = true
	}
	if r.refused && mine {
		now |= backend.Refused
	}
	if r.dated {
		now &^= backend.Ended
	}
	r.holds, r.lifts = now.Import() == r.of.number, r.own && !r.refused && others
	return now
}

// identity computes the number of a file, a hash of its first rows. A second run on the file gets the same number.
type identity struct {
	hash   xxhash.Digest
	frozen uint64
}

// add adds a row to the hash, until the number has been asked for.
func (d *identity) add(cells ...[]byte) {
	if d.frozen != 0 {
		return
	}
	for _, cell := range cells {
		_, _ = d.hash.Write(cell) // never fails
		_, _ = d.hash.Write([]byte{0})
	}
	_, _ = d.hash.Write([]byte{'\n'})
}

// number returns the number. Rows that are added later do not change it.
func (d *identity) number() uint64 {
	if d.frozen == 0 {
		d.frozen = d.hash.Sum64()%backend.MaxImport + 1
	}
	return d.frozen
}

func (s *editorSource) number() uint64 { return s.identity.number() }

func (s *jsonSource) number() uint64 { return s.identity.number() }

// guessOwners sets the owner of an own row that cannot be read as a whole, as far as it can be read. That owner must
// not be served without its own row.
func (s *editorSource) guessOwners(e *entry) {
	if s.noData() != "" || s.otherKindOf() != "" || s.row.filled(colKeyword) || s.row.filled(colAdType) || s.row.anyHeadline() {
		return
	}
	e.advertiser, e.campaign = s.accountAsRead(), s.shared(colCampaign)
	if e.kind = kindCampaign; s.row.filled(colAdGroup) {
		e.kind, e.group = kindGroup, s.shared(colAdGroup)
	}
}

// accountAsRead returns the row's advertiser, unchecked.
func (s *editorSource) accountAsRead() string {
	return cmp.Or(s.advertiser, string(s.row.cell(colAccountName)), s.shared(colAccount))
}

// guessOwners sets the owner that a rejected line names, as far as the line can be read.
func (s *jsonSource) guessOwners(e *entry, line []byte) {
	names := make(map[string]string)
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value any
		if dec.Decode(&value) != nil {
			break
		}
		if text, ok := value.(string); ok {
			names[name.(string)] = strings.TrimSpace(text)
		}
	}
	at := slices.IndexFunc(entityTypes[:], func(t entityType) bool { return t.name == names[fieldType.String()] })
	if at < 0 {
		return
	}
	e.advertiser, e.campaign, e.group = cmp.Or(names[fieldAdvertiser.String()], s.advertiser), names[fieldCampaign.String()], names[fieldGroup.String()]
	switch e.kind = entityTypes[at].kind; e.kind {
	case kindAdvertiser:
		e.advertiser = names[fieldName.String()]
	case kindCampaign:
		e.campaign = names[fieldName.String()]
	case kindGroup:
		e.group = names[fieldName.String()]
	}
}

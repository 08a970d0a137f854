package sqlite

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/fault"
	"adshard/search"
)

// sum is the sum of an entity's row hashes. A writer that changes one row need not read the others.
type sum uint64

// unsummedSum is the sum of entities that have no sum yet; the schema says which.
const unsummedSum sum = 6364136223846793005

// hasher computes the hashes of rows. A hash begins with the table, the owner and the id. All columns follow except
// the version, which is compared separately.
type hasher struct{ buf []byte }

// The numbers of tables in hashes. The numbers that are missing here, and all from 17 on, are those of columns
// (fields.Field.Sum).
const (
	rowAdvertiser         = 1
	rowCampaign           = 2
	rowBudget             = 3
	rowGroup              = 4
	rowGroupOwner         = 5
	rowKeyword            = 6
	rowGroupNegative      = 7
	rowCampaignNegative   = 8
	rowAd                 = 9
	rowWithheld           = 12
	rowCampaignHold       = 14
	rowGroupHold          = 15
	rowAdvertiserNegative = 16
)

func (h *hasher) begin(table byte, owner, id uint64) {
	h.buf = append(h.buf[:0], table)
	h.number(owner)
	h.number(id)
}

func (h *hasher) number(n uint64) { h.buf = binary.LittleEndian.AppendUint64(h.buf, n) }

func (h *hasher) flag(b bool) {
	if b {
		h.buf = append(h.buf, 1)
	} else {
		h.buf = append(h.buf, 0)
	}
}

func (h *hasher) optional(has bool, n uint64) {
	h.flag(has)
	h.number(n)
}

func (h *hasher) modifiers(list [search.Devices]backend.Modifier) {
	for _, m := range list {
		h.optional(m.Set, uint64(m.Permille))
	}
}

func text[T ~string | []byte](h *hasher, s T) {
	h.buf = binary.AppendUvarint(h.buf, uint64(len(s)))
	h.buf = append(h.buf, s...)
}

func (h *hasher) end() sum { return sum(xxhash.Sum64(h.buf)) }

// advertiser hashes an advertiser's row. A column that was added after the first schema adds nothing while it has its
// default, so that old sums stay right. advertiser, campaign, group and keyword hash the columns of the first schema;
// the functions added… hash later ones.
func (h *hasher) advertiser(id uint64, name string, v *backend.AdvertiserSettings) sum {
	h.begin(rowAdvertiser, 0, id)
	text(h, name)
	h.flag(v.Enabled)
	return h.end() + h.addedAdvertiser(0, id, v)
}

// campaign hashes a campaign's row without the mark of the budget, which is written separately.
func (h *hasher) campaign(id, advertiser uint64, name string, v *backend.CampaignSettings) sum {
	h.begin(rowCampaign, advertiser, id)
	text(h, name)
	h.flag(v.Enabled)
	h.optional(v.HasBudget, v.DailyBudget)
	h.modifiers(v.Modifiers)
	text(h, v.Languages)
	h.flag(v.RotateEvenly)
	return h.end() + h.addedCampaign(advertiser, id, v) + h.hold(rowCampaignHold, advertiser, id, v.Hold)
}

// budgetMark is the mark of a campaign's budget.
type budgetMark struct {
	exhausted bool
	withheld  uint32
}

func (h *hasher) budget(id uint64, m budgetMark) sum {
	h.begin(rowBudget, 0, id)
	h.flag(m.exhausted)
	s := h.end()
	if m.withheld > 0 {
		h.begin(rowWithheld, 0, id)
		h.number(uint64(m.withheld))
		s += h.end()
	}
	return s
}

// group hashes a group's row without the advertiser, which is that of the campaign.
func (h *hasher) group(id, campaign uint64, name string, v *backend.GroupSettings) sum {
	h.begin(rowGroup, campaign, id)
	text(h, name)
	h.flag(v.Enabled)
	h.optional(v.HasBid, v.Bid)
	h.modifiers(v.Modifiers)
	return h.end() + h.addedGroup(campaign, id, v) + h.hold(rowGroupHold, campaign, id, v.Hold)
}

// hold hashes the hold of a campaign or group.
func (h *hasher) hold(table byte, owner, id uint64, by backend.Hold) sum {
	if by == 0 {
		return 0
	}
	h.begin(table, owner, id)
	h.number(uint64(by))
	return h.end()
}

func (h *hasher) groupOwner(id, advertiser uint64) sum {
	h.begin(rowGroupOwner, advertiser, id)
	return h.end()
}

func (h *hasher) keyword(group, id uint64, k upsert.Phrase, shown string, v *backend.KeywordSettings) sum {
	h.begin(rowKeyword, group, id)
	h.phrase(k, shown, v.Enabled)
	h.optional(v.HasBid, v.Bid)
	h.buf = append(h.buf, v.Quality)
	return h.end() + h.addedKeyword(group, id, v)
}

func (h *hasher) negative(table byte, owner, id uint64, k upsert.Phrase, v upsert.Negative) sum {
	h.begin(table, owner, id)
	h.phrase(k, v.Text, v.Enabled)
	return h.end()
}

func (h *hasher) phrase(k upsert.Phrase, shown string, enabled bool) {
	text(h, k.Words)
	text(h, shown)
	h.buf = append(h.buf, byte(k.Match))
	h.flag(enabled)
}

// ad hashes an ad. Its lists of texts are JSON.
func ad[T string | []byte](h *hasher, group, id uint64, headlines, descriptions T, k upsert.Content, enabled bool) sum {
	h.begin(rowAd, group, id)
	text(h, headlines)
	text(h, descriptions)
	text(h, k.Path1)
	text(h, k.Path2)
	text(h, k.FinalURL)
	h.flag(enabled)
	return h.end()
}

// stored holds the columns of an entity's row that are about its sum.
type stored struct {
	sum             sum
	summed, version uint64
}

// scanStored reads the columns sum, summed and version.
func scanStored(st *zs.Stmt, at int) stored {
	return stored{sum(st.ColumnInt64(at)), uint64(st.ColumnInt64(at + 1)), uint64(st.ColumnInt64(at + 2))}
}

// verify compares an entity's sum with the sum of its rows as they were read. byOthers is set if another program has
// changed the entity since, so that the sum is out of date. d is damage of the entity, or nil; err is a failure to
// read.
func (c *conn) verify(kind backend.Kind, id uint64, s stored, rows sum) (byOthers bool, d *backend.Damage, err error) {
	if s.summed == s.version && s.sum == rows {
		return false, nil, nil
	}
	byOthers, d, err = c.current(kind, id, s)
	if !byOthers && d == nil && err == nil {
		d = &backend.Damage{Kind: kind, ID: id, Problem: "its rows differ from what was written"}
	}
	return byOthers, d, err
}

// current determines whether an entity's sum is that of its version. It returns the same results as verify.
func (c *conn) current(kind backend.Kind, id uint64, s stored) (byOthers bool, d *backend.Damage, err error) {
	damage := func(problem string) *backend.Damage { return &backend.Damage{Kind: kind, ID: id, Problem: problem} }
	switch {
	case s.summed == s.version && s.sum != unsummedSum:
		return false, nil, nil
	case s.summed == s.version:
		log, err := c.state()
		if err == nil && !log.unsummed {
			d = damage("its sum is lost")
		}
		return true, d, err
	case s.summed > s.version:
		return false, damage("its version differs from what was written"), nil
	}
	e, found, err := c.entry(s.version)
	if fault.Is(err, fault.Corrupt) || err == nil && (!found || e.Kind != kind || e.ID != id || e.Removed) {
		return false, damage("its version is not that of a change in the log"), nil
	}
	return true, nil, err
}

// corrupt returns damage as an error that says what to do.
func corrupt(op string, d *backend.Damage) error {
	return fault.Newf(fault.Corrupt, "sqlite: "+op, "%w: the database is damaged; run `adshard db check` for details, and restore it from a copy", d)
}

// checked is like verify for readers of one entity, but returns damage as an error.
func (c *conn) checked(op string, kind backend.Kind, id uint64, s stored, rows sum) error {
	_, d, err := c.verify(kind, id, s, rows)
	if d != nil {
		return corrupt(op, d)
	}
	return err
}

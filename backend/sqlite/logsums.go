package sqlite

import (
	"math"

	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
)

// The log and the state have sums that SQLite computes when it writes a row, so that they are right for rows of any
// program. The prime is greater than any factor, so each changed bit of a column changes the sum.
const sumPrime = math.MaxInt32

// columnSum returns what SQLite computes from columns, with the factors 3, 5, 7, 11, 13, 17, 19.
func columnSum(columns [7]int64) int64 {
	total := int64(0)
	for i, factor := range [...]int64{3, 5, 7, 11, 13, 17, 19} {
		total += columns[i] % sumPrime * factor
	}
	return total % sumPrime
}

// summedColumns reads seven columns, starting with `first`, and the sum after them. whole reports whether the sum is
// right.
func summedColumns(st *zs.Stmt, first int) (columns [7]int64, whole bool) {
	for i := range columns {
		columns[i] = st.ColumnInt64(first + i)
	}
	return columns, columnSum(columns) == st.ColumnInt64(first+len(columns))
}

// state is the content of the table state.
type state struct {
	since     uint64
	compacted backend.Position // mark 0 if an earlier program removed the change
	given     ids
	unsummed  bool
}

// state reads the table state. It returns fault.Corrupt if its sum is wrong.
func (c *conn) state() (s state, err error) {
	found := false
	err = c.query("SELECT since, compacted, compacted_mark, keyword, negative, ad, unsummed, sum FROM state", func(st *zs.Stmt) error {
		n, whole := summedColumns(st, 0)
		found = whole
		s = state{
			since: uint64(n[0]), compacted: backend.Position{Clock: uint64(n[1]), Mark: uint64(n[2])},
			given: ids{uint64(n[3]), uint64(n[4]), uint64(n[5])}, unsummed: n[6] != 0,
		}
		return nil
	})
	if err == nil && !found {
		err = corrupt("read state", &backend.Damage{Problem: "the table state differs from what was written"})
	}
	return s, err
}

const selectChange = "SELECT clock, mark, kind, id, advertiser_id, campaign_id, removed, sum FROM change_log"

// scanChange reads a row of selectChange. It returns fault.Corrupt if its sum is wrong.
func scanChange(st *zs.Stmt) (backend.Change, error) {
	n, whole := summedColumns(st, 0)
	if !whole {
		return backend.Change{}, corrupt("changes", &backend.Damage{Problem: "an entry of the log differs from what was written"})
	}
	return backend.Change{
		Clock: uint64(n[0]), Mark: uint64(n[1]), Kind: backend.Kind(n[2]), ID: uint64(n[3]),
		AdvertiserID: uint64(n[4]), CampaignID: uint64(n[5]), Removed: n[6] != 0,
	}, nil
}

// entry returns the change at a clock, if it is in the log. It returns fault.Corrupt if its sum is wrong.
func (c *conn) entry(clock uint64) (e backend.Change, found bool, err error) {
	err = c.query(selectChange+" WHERE clock = ?", func(st *zs.Stmt) (err error) {
		found = true
		e, err = scanChange(st)
		return err
	}, clock)
	return e, found && err == nil, err
}

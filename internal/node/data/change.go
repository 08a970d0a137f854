package data

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi/api"
)

// Request is a client's request for changes.
type Request struct {
	Operations []*Operation
	// Asked is the request's content, with which a repetition must agree.
	Asked []byte
	// Caller and Key name the request. If Key is "", the request has no name, and a repetition is not
	// recognized.
	Caller, Key string
	// Wait is how long to wait for the slaves; 0 means not at all.
	Wait time.Duration
}

// done is the effect of an operation.
type done struct {
	Effect api.DataEffect `json:"effect"`
	Key    Key            `json:"key"`
}

// receipt is what is stored about a request.
type receipt struct {
	Asked string `json:"asked"` // hash of Request.Asked
	Done  []done `json:"done"`
}

// Change makes all changes of a request in one transaction, or none. Errors: fault.NotFound for
// entities that do not exist; fault.Conflict for creating one that exists already, for an ETag that
// does not match (answered 412), and for a key that another request has used; those of the database.
func (s *Service) Change(ctx context.Context, r *Request) (*api.DataChanges, error) {
	all, replayed, err := s.once(ctx, r)
	if err != nil {
		return nil, err
	}
	out, at, err := s.answer(ctx, all)
	if err != nil {
		return nil, fault.Newf(fault.KindOf(err), op, "the change is durable, but cannot be read back: %w", err)
	}
	out.Replayed = replayed
	if r.Wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, r.Wait)
		defer cancel()
		served := s.served(ctx, at) == nil
		out.Served = &served
	}
	return out, nil
}

// once makes the changes, unless the same request was made before.
func (s *Service) once(ctx context.Context, r *Request) (all []done, replayed bool, err error) {
	if err := s.writers.take(ctx); err != nil {
		return nil, false, err
	}
	defer s.writers.leave()
	if all, err = s.replay(ctx, r); all != nil || err != nil {
		return all, true, err
	}
	if err = s.checkPlaces(ctx, r); err != nil {
		return nil, false, err
	}
	all, replayed, err = s.write(ctx, r)
	if err != nil { // the same request, sent twice, may have been faster
		if before, e := s.replay(ctx, r); before != nil && e == nil {
			return before, true, nil
		}
	}
	return all, replayed, err
}

// checkPlaces returns an error if a request names a place that is not in the table.
func (s *Service) checkPlaces(ctx context.Context, r *Request) error {
	for i, o := range r.Operations {
		if o.Settings == nil {
			continue
		}
		err := o.Settings.CheckPlaces(ctx, s.db)
		if err != nil && len(r.Operations) > 1 {
			err = at(i, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// name returns the key of the request's receipt. It includes the caller, so that callers cannot use
// each other's keys.
func (r *Request) name() string {
	sum := sha256.Sum256([]byte(r.Caller + "\n" + r.Key))
	return hex.EncodeToString(sum[:])
}

func (r *Request) hash() string {
	sum := sha256.Sum256(r.Asked)
	return hex.EncodeToString(sum[:])
}

// replay returns the effects of the request if it was made before, or nil if it was not. Errors:
// fault.Conflict if another request had the same key.
func (s *Service) replay(ctx context.Context, r *Request) ([]done, error) {
	if r.Key == "" {
		return nil, nil
	}
	noted, err := backend.FindReceipt(ctx, s.db, r.name(), s.now())
	if noted == nil || err != nil {
		return nil, err
	}
	var before receipt
	if err := json.Unmarshal(noted, &before); err != nil {
		return nil, fault.Newf(fault.Corrupt, op, "the receipt of the request cannot be read: %w", err)
	}
	if before.Asked != r.hash() {
		return nil, fault.Newf(fault.Conflict, op, "another request had this Idempotency-Key; give each request one of its own")
	}
	return before.Done, nil
}

// write makes the changes. It first locks all rows that the request names, and then looks for the
// request's receipt: of two equal requests, the second waits at the locks for the first.
func (s *Service) write(ctx context.Context, r *Request) (all []done, replayed bool, err error) {
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return nil, false, err
	}
	defer tx.Rollback()
	rows := rowsOf(r.Operations)
	for _, row := range rows {
		if err := tx.Lock(ctx, row.kind, row.id); err != nil {
			return nil, false, err
		}
	}
	if all, err = s.replay(ctx, r); all != nil || err != nil {
		return all, true, err
	}
	before, err := s.open(ctx)
	if err != nil {
		return nil, false, err
	}
	err = before.load(ctx, rows)
	if e := before.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, false, err
	}
	w := writer{tx: tx, before: before, removed: map[row]bool{}, gone: map[Key]bool{}}
	tx.Watch(w.watch)
	for i, o := range r.Operations {
		d, err := w.operation(ctx, o)
		if err != nil && len(r.Operations) > 1 {
			err = at(i, err)
		}
		if err != nil {
			return nil, false, err
		}
		all = append(all, d)
	}
	if r.Key != "" {
		noted, err := json.Marshal(receipt{Asked: r.hash(), Done: all})
		if err == nil {
			err = tx.Receipt(ctx, r.name(), noted, s.now())
		}
		if err != nil {
			return nil, false, err
		}
	}
	return all, false, tx.Commit(ctx)
}

// rowsOf returns the rows that the operations change or add to. The order is the same in all
// transactions, so that no two wait for each other.
func rowsOf(list []*Operation) (rows []row) {
	for _, o := range list {
		if r, ok := o.row(); ok {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) })
	return slices.Compact(rows)
}

// row returns the row that an operation changes or adds to. ok is false if it creates an advertiser.
func (o *Operation) row() (r row, ok bool) {
	if o.Verb == Create && o.Type == backend.EntityAdvertiser {
		return row{}, false
	}
	return o.Key.row(), true
}

// answer reads back what was changed, and returns a clock at which the changes are included.
func (s *Service) answer(ctx context.Context, all []done) (*api.DataChanges, uint64, error) {
	n, err := s.open(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer n.Close()
	var rows []row
	for _, d := range all {
		rows = append(rows, d.Key.row())
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) })
	if err := n.load(ctx, slices.Compact(rows)); err != nil {
		return nil, 0, err
	}
	out := &api.DataChanges{MinClock: position(n.Position()), Changes: []api.DataChange{}}
	for _, d := range all {
		c := api.DataChange{Effect: d.Effect, Type: api.ItemType(d.Key.Type.String()), ID: d.Key.ID}
		if d.Effect != api.DataEffectRemoved {
			c.Item, _ = n.item(d.Key) // nil if it has been removed since
		}
		out.Changes = append(out.Changes, c)
	}
	return out, n.Position().Clock, nil
}

package collector

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"adshard/backend"
	"adshard/events"
	"adshard/events/store"
	"adshard/fault"
	"adshard/internal/wait"
	"adshard/quality"
	"adshard/quality/revise"
)

// learningKey is appended to the cluster's state key. Together they are the key of the note on learning.
const learningKey = "/learning"

const (
	// halfLife is the number of days after which a count weighs half. keepDays is the number after which it is left
	// out, when its weight is less than a hundredth.
	halfLife = 30
	keepDays = 7 * halfLife
	// writePause is the pause between two transactions of some thousand keywords. Thus a round that changes many
	// keywords does not delay other changes on their way to the slaves.
	writePause = time.Second
	// lookEvery is the longest time between two checks of whether a round is due.
	lookEvery = time.Minute
)

// learning learns qualities from the counts by place in the store of events. The collector that first notes a round
// does it, as in events.Pacing. If it is killed, the next round writes the rest of its changes.
type learning struct {
	db    backend.Store
	store store.Store
	named *events.Named
	key   string // the key of the note in the control state
	every time.Duration
	now   func() time.Time
	log   *slog.Logger

	metrics *learningMetrics
	// last is when this collector last began a round that did not fail, or nil if it never did. It keeps notes of
	// collectors whose clocks differ by more than `every` from delaying a round.
	last atomic.Pointer[time.Time]
}

// lesson is the stored note of a round.
type lesson struct {
	At time.Time `json:"at"` // when the last round began
	// Since is when the first round began: earlier events may also have been counted elsewhere, by hand or by the
	// collectors of the database that this one was copied from.
	Since time.Time     `json:"since"`
	Scale quality.Scale `json:"scale"`
}

// run does the rounds that are due until ctx is done.
func (l *learning) run(ctx context.Context) {
	for {
		if l.named.Confirm(ctx) != nil { // Ready reports it
		} else if err := l.round(ctx); err != nil && ctx.Err() == nil {
			l.log.Error("qualities cannot be learned; they stay as they are", "err", err)
		}
		if wait.Sleep(ctx, min(l.every, lookEvery)) != nil {
			return
		}
	}
}

// round learns, if a round is due and no other collector does it.
func (l *learning) round(ctx context.Context) error {
	was, err := l.db.LoadControl(ctx, l.key)
	if err != nil {
		return l.failed(err)
	}
	var noted lesson
	if was != nil {
		if err := json.Unmarshal(was, &noted); err != nil {
			return l.failed(fault.Newf(fault.Corrupt, "learning", "the control state %q is damaged: delete it while the collectors are stopped: %w", l.key, err))
		}
	}
	now := l.now()
	if age := now.Sub(noted.At); age < l.every && age > -events.Skew { // otherwise a clock was ahead
		return nil
	}
	if last := l.last.Load(); last != nil {
		if age := now.Sub(*last); age >= 0 && age < l.every { // otherwise this clock was set back
			return nil
		}
	}
	before := noted
	noted.At = now
	if noted.Since.IsZero() || noted.Since.After(now) {
		noted.Since = now
	}
	claimed, err := l.save(ctx, noted, was)
	if fault.Is(err, fault.Conflict) {
		return nil // another collector learns
	}
	if err != nil {
		return l.failed(err)
	}
	did, err := l.learn(ctx, noted, store.Day(now.Unix()/(24*60*60)))
	l.metrics.round(now, did, err)
	if err == nil {
		l.last.Store(&now)
	}
	switch {
	case err != nil:
		noted = before // restored, so that the next try comes soon
	case did.scale == noted.Scale:
		return nil
	}
	noted.Scale = did.scale
	return l.finish(ctx, noted, claimed, err)
}

// failed counts a round that failed before anything was learned.
func (l *learning) failed(err error) error {
	l.metrics.rounds.WithLabelValues(roundFailed).Inc()
	return err
}

// finish replaces the note from the start of a round with the round's result. `err` is why the round failed, or
// nil.
func (l *learning) finish(ctx context.Context, noted lesson, claimed []byte, err error) error {
	_, failed := l.save(ctx, noted, claimed)
	if fault.Is(failed, fault.Conflict) {
		failed = nil // another round has begun, and notes its own result
	}
	if fault.Is(err, fault.Conflict) {
		l.log.Info("counts were erased while qualities were learned from them: it is begun anew")
		err = nil
	}
	return errors.Join(err, failed)
}

func (l *learning) save(ctx context.Context, n lesson, was []byte) ([]byte, error) {
	b, err := json.Marshal(n)
	if err == nil {
		err = l.db.SaveControlIf(ctx, l.key, b, l.key, was)
	}
	return b, err
}

// pass is the result of a round.
type pass struct {
	scale   quality.Scale
	written int // keywords
}

// learn writes the qualities that follow from the counts. Errors: fault.Conflict if counts were erased after learn
// had read them.
func (l *learning) learn(ctx context.Context, noted lesson, today store.Day) (did pass, err error) {
	did.scale = noted.Scale
	erasures, err := revise.Erasures(ctx, l.db)
	if err != nil {
		return did, err
	}
	counts, lapsed, err := l.counts(ctx, today)
	if err != nil || counts == nil {
		return did, err
	}
	if refused := counts.Refuse(); len(refused) > 0 {
		l.log.Warn("some places were clicked more often than they were shown: nothing is learned from these", "places", len(refused), "campaign", refused[0].Campaign,
			"keyword", refused[0].Keyword, "ad", refused[0].Ad, "position", refused[0].Position, "impressions", refused[0].Impressions, "clicks", refused[0].Clicks)
	}
	if noted.At.Sub(noted.Since) < keepDays*24*time.Hour {
		lapsed = nil
	}
	plan, err := revise.Make(ctx, l.db, counts, revise.Options{
		Options: quality.Options{HalfLife: halfLife, Optimism: 1, Explore: quality.DefaultExplore}, Today: int32(today), Kept: noted.Scale, Lapsed: lapsed,
	})
	if err != nil {
		return did, err
	}
	plan.Pause, plan.Erasures = writePause, erasures
	r, err := plan.Write(ctx, l.db, nil)
	did.written = r.Written
	if !fault.Is(err, fault.Conflict) { // a conflict means that the scale was made from erased counts
		did.scale = plan.Scale
	}
	if err == nil && r.Written > 0 {
		l.log.Info("qualities were learned", "changed", r.Written, "stay", plan.Left, "scale", float64(plan.Scale))
	}
	return did, err
}

// impressions is the count at a place on one day.
type impressions struct {
	at quality.Cell // without the group
	n  quality.Count
}

// counts returns the counts of the days that matter, with the groups of keywords, or nil if there are none.
// Keywords without a group are left out. `lapsed` lists the groups with learned qualities for which nothing was
// counted.
func (l *learning) counts(ctx context.Context, today store.Day) (counts *quality.Counts, lapsed []uint64, err error) {
	var list []impressions
	keywords := make(map[uint64]bool)
	// The calendar of an advertiser is at most one day ahead of this one.
	q := store.Query{By: store.ByPlace, Daily: true, From: today - keepDays, To: today + 1}
	err = l.store.Report(ctx, q, func(r store.Row) error {
		if r.Position >= 1 && r.Position <= quality.MaxPosition { // 0 means counted by a version that did not record positions
			key := quality.Key{Campaign: r.Campaign, Keyword: r.Keyword, Ad: r.Ad}
			list = append(list, impressions{quality.Cell{Key: key, Position: r.Position, Day: int32(r.Day)}, quality.Count{Impressions: r.Impressions, Clicks: r.Clicks}})
			keywords[r.Keyword] = true
		}
		return nil
	})
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	groups, lapsed, err := revise.Groups(ctx, l.db, keywords)
	if err != nil {
		return nil, nil, err
	}
	counts = new(quality.Counts)
	for _, s := range list {
		if s.at.Group = groups[s.at.Keyword]; s.at.Group == 0 {
			continue
		}
		if err := counts.Add(s.at, s.n); err != nil {
			return nil, nil, err
		}
	}
	return counts, lapsed, nil
}

package premise

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adshard/bench/cluster"
	"adshard/bench/openloop"
	"adshard/internal/wait"
)

// underWay is the number of requests in progress while the rate is searched for, connections
// the largest number in a run.
const (
	underWay    = 16
	connections = 512
	// rest is the time between a cluster's start and its load.
	rest = 500 * time.Millisecond
)

// Run measures all rows, in rounds, and fills the report. A row that failed contains the error.
func (p *Plan) Run(ctx context.Context, r *Report) error {
	models, err := p.models()
	if err != nil {
		return err
	}
	targets, number := p.asked()
	load := openloop.Config{Targets: targets, Timeout: 10 * p.Deadline, InTime: p.Deadline}
	r.Limited = p.Share > 0
	for _, m := range models {
		p.say("%s: how much is answered in time", m.Name())
		if m.Rate, m.fault = p.capacity(ctx, m, load, number, r); ctx.Err() != nil {
			return ctx.Err()
		}
		r.Costs = append(r.Costs, m.Cost)
	}
	for round := range p.Rounds {
		for _, m := range models {
			for _, name := range p.order(round) {
				p.say("round %d of %d: %s, %s", round+1, p.Rounds, m.Name(), name)
				row := Row{Trees: m.Trees, Strategy: name, Round: round + 1}
				err := m.fault
				if err == nil {
					err = p.row(ctx, m, load, number, &row, r)
				}
				if err != nil {
					row = Row{Trees: m.Trees, Strategy: name, Round: round + 1, Error: err.Error()}
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
				r.Rows = append(r.Rows, row)
			}
		}
	}
	return nil
}

// capacity returns the rate: the share Load of the answers in time per second while some
// requests are always in progress.
func (p *Plan) capacity(ctx context.Context, m *model, load openloop.Config, number []int, r *Report) (rate float64, err error) {
	c, limited, err := p.start(ctx, m, Fixed)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.end(c)) }()
	r.Limited = r.Limited && limited
	if m.file != "" {
		if id, err := c.Scorer(ctx); err != nil || id == "" {
			return 0, errors.Join(errors.New("the cluster does not score by its model"), err)
		}
	}
	load.Addr, load.Schedule = c.URL, p.second(number)
	load.Closed, load.Connections, load.Warmup, load.Duration = underWay, underWay, p.Capacity/2, p.Capacity
	o, err := openloop.Run(ctx, load)
	if err != nil {
		return 0, err
	}
	if o.InTime == 0 {
		return 0, errors.New(m.Name() + ": no answer was complete within the deadline: choose fewer trees, or a larger share of a processor")
	}
	return p.Load * float64(o.InTime) / o.Took.Seconds(), nil
}

// end stops a cluster and removes its stores.
func (p *Plan) end(c *cluster.Cluster) error {
	return errors.Join(c.Stop(), os.RemoveAll(filepath.Join(p.Dir, "cluster")))
}

// row measures a strategy on a fresh cluster, which is first asked the first mix and then the
// second one.
func (p *Plan) row(ctx context.Context, m *model, load openloop.Config, number []int, row *Row, r *Report) (err error) {
	c, limited, err := p.start(ctx, m, row.Strategy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.end(c)) }()
	r.Limited = r.Limited && limited
	if err := wait.Sleep(ctx, rest); err != nil {
		return err
	}
	before, err := c.Status(ctx)
	if err == nil && row.Strategy != Fixed {
		err = c.Resume(ctx)
	}
	if err != nil {
		return err
	}
	load.Addr, load.Rate, load.Schedule = c.URL, m.Rate, p.events(number, m.Rate)
	load.Connections, load.Warmup, load.Duration, load.Processes = connections, p.Before, p.After, c.SlaveProcesses()
	o, err := openloop.Run(ctx, load)
	if err != nil {
		return err
	}
	after, err := c.Status(ctx)
	if err != nil {
		return err
	}
	row.Moves, row.Moved = after.Moved.Moves-before.Moved.Moves, after.Moved.Items-before.Moved.Items
	row.fill(o, p.After, p.Share)
	if ended := c.Ended(); len(ended) > 0 {
		return errors.New(ended[0] + " ended by itself")
	}
	return nil
}

// fill adds the results of a load.
func (row *Row) fill(o *openloop.Outcome, asked time.Duration, share float64) {
	due := o.Sent() + o.Unsent
	row.Asked, row.InTime = float64(due)/asked.Seconds(), float64(o.InTime)/asked.Seconds()
	row.P50, row.P99 = millis(o.Latency.Quantile(0.5)), millis(o.Latency.Quantile(0.99))
	row.Incomplete = float64(due-o.Complete) / float64(max(1, due))
	row.Late = millis(o.Late.Quantile(0.99))
	sum := 0.0
	for _, t := range o.ServerCPUs {
		row.Processor = append(row.Processor, t.Seconds())
		sum += t.Seconds()
	}
	row.Work = 1e3 * sum / float64(max(1, due))
	most := slices.Max(row.Processor)
	if sum > 0 {
		row.MaxOverMean = most * float64(len(row.Processor)) / sum
	}
	if share == 0 {
		share = 1
	}
	row.Busiest = most / (share * o.Took.Seconds())
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

package distributor

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// task is a read or a build for which the state machine asked.
type task func(ctx context.Context) error

// dispatch starts the tasks. At most as many run at a time as there are workers.
func (d *Distributor) dispatch(ctx context.Context, group *errgroup.Group) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.poke:
		}
		d.mu.Lock()
		tasks := d.tasks
		d.tasks = nil
		d.mu.Unlock()
		for _, run := range tasks {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case d.work <- struct{}{}:
			}
			group.Go(func() error {
				defer func() { <-d.work }()
				return run(ctx)
			})
		}
	}
}

// collect queues the tasks that the state machine asks for. The caller holds the lock.
func (d *Distributor) collect() {
	if d.machine == nil {
		return
	}
	d.machine.Tick(time.Since(d.began))
	machine, w := d.machine, d.machine.Work()
	for _, job := range w.Builds {
		d.tasks = append(d.tasks, func(ctx context.Context) error { return d.build(ctx, machine, job) })
	}
	for _, job := range w.Fetches {
		d.tasks = append(d.tasks, func(ctx context.Context) error { return d.fetch(ctx, machine, job) })
	}
	if len(d.tasks) > 0 {
		select {
		case d.poke <- struct{}{}:
		default:
		}
	}
	if made := d.machine.Made(); made != d.made {
		d.made = made
		d.changed.Notify()
	}
}

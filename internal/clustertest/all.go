package clustertest

import (
	"context"
	"errors"
	"sync"

	"adshard/backend"
)

// Changes are all that goes on in the data of a cluster.
type Changes struct {
	*Changer
	Shifting *Shifter // nil: the programs know no targeting
	Stirring *Stirrer // nil, too
}

// NewChanges creates what changes. targeted: targeting, block lists and places change, too.
func NewChanges(ctx context.Context, store backend.Store, targeted bool) (c *Changes, err error) {
	c = new(Changes)
	if targeted {
		if c.Stirring, err = NewStirrer(ctx, store); err != nil {
			return nil, err
		}
		if c.Shifting, err = NewShifter(ctx, store); err != nil {
			return nil, err
		}
	}
	c.Changer, err = NewChanger(ctx, store, targeted)
	return c, err
}

// Run makes rate changes a second of the groups, and half as many that mean nothing, until ctx is done. It returns the first error for
// which goOn, if there is one, returns false.
func (c *Changes) Run(ctx context.Context, masters *Client, rate int, goOn func(error) bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	var errs [3]error
	begin := func(i int, f func() error) {
		all.Go(func() {
			if errs[i] = f(); errs[i] != nil {
				stop()
			}
		})
	}
	begin(0, func() error { return c.Changer.Run(ctx, rate, goOn) })
	if c.Shifting != nil {
		begin(1, func() error { return c.Shifting.Run(ctx, masters, goOn) })
		begin(2, func() error { return c.Stirring.Run(ctx, rate/2, goOn) })
	}
	all.Wait()
	return errors.Join(errs[:]...)
}

// Pause keeps the data as they are until resume is called.
func (c *Changes) Pause() (resume func()) {
	others := func() {}
	if c.Shifting != nil {
		c.Shifting.writing.Lock()
		c.Stirring.writing.Lock()
		others = func() { c.Shifting.writing.Unlock(); c.Stirring.writing.Unlock() }
	}
	groups := c.Changer.Pause()
	return func() { groups(); others() }
}

// Restored notes that the database goes back to a clock, as Changer's does.
func (c *Changes) Restored(clock uint64) {
	c.Changer.Restored(clock)
	if c.Shifting != nil {
		c.Shifting.restored()
	}
}

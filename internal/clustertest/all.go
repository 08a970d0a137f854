package clustertest

import (
	"context"
	"errors"
	"sync"

	"adshard/backend"
)

// Changes is everything that changes the data of a cluster.
type Changes struct {
	*Changer
	Shifting *Shifter // nil if the programs do not know targeting
	Stirring *Stirrer // nil if Shifting is
}

// NewChanges creates the data that change. With `targeted`, targeting, block lists and places change, too.
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

// Run makes `rate` changes of the groups a second, and half as many changes that have no effect, until ctx is done. It stops at the
// first error for which goOn is nil or returns false, and returns that error.
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

// Pause keeps the data unchanged until resume is called.
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

// Restored notes that the database goes back to a clock, like Changer.Restored.
func (c *Changes) Restored(clock uint64) {
	c.Changer.Restored(clock)
	if c.Shifting != nil {
		c.Shifting.restored()
	}
}

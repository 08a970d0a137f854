package documents

import (
	"sync/atomic"

	"adshard/backend"
	"adshard/places"
)

// Places keeps the table of places. The zero value has none yet.
type Places struct {
	table   atomic.Pointer[places.Table]
	damaged bool // it is there and was never read
}

// Table returns the table; nil: it is not known yet which one holds. It is safe for concurrent use, and does not block.
func (p *Places) Table() *places.Table { return p.table.Load() }

// Wants implements Keeper.
func (p *Places) Wants(name string) bool { return name == backend.PlacesDocument }

// Put implements Keeper.
func (p *Places) Put(_ backend.Document, text string) error {
	t, err := places.Parse(text)
	if err == nil {
		p.damaged = false
		p.table.Store(t)
	}
	return err
}

// Damaged implements Keeper. What is built in does not take the place of a table that cannot be read: places would lack their
// parents, and exclusions of these would not apply.
func (p *Places) Damaged(string) { p.damaged = true }

// Drop implements Keeper: what is built in holds.
func (p *Places) Drop(string) {
	p.damaged = false
	p.table.Store(places.Countries())
}

// Known implements Keeper. Where no table was imported, what is built in holds.
func (p *Places) Known() {
	if !p.damaged {
		p.table.CompareAndSwap(nil, places.Countries())
	}
}

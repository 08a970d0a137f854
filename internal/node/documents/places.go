package documents

import (
	"sync/atomic"

	"adshard/backend"
	"adshard/places"
)

// Places keeps the table of places. The zero value has none yet.
type Places struct {
	table  atomic.Pointer[places.Table]
	unread bool // it is there and was never read
}

// Table returns the table; nil: it is not known yet which one holds. It is safe for concurrent use, and does not block.
func (p *Places) Table() *places.Table { return p.table.Load() }

// Wants implements Keeper.
func (p *Places) Wants(name string) bool { return name == backend.PlacesDocument }

// Put implements Keeper.
func (p *Places) Put(_ backend.Document, data []byte) error {
	text, err := backend.UnpackDocument(data)
	if err != nil {
		return err
	}
	t, err := places.Parse(text)
	if err == nil {
		p.unread = false
		p.table.Store(t)
	}
	return err
}

// Unread implements Keeper. What is built in does not take the place of a table that is there: places would lack their
// parents, and exclusions of these would not apply.
func (p *Places) Unread(string) { p.unread = true }

// Drop implements Keeper: what is built in holds.
func (p *Places) Drop(string) {
	p.unread = false
	p.table.Store(places.Countries())
}

// Known implements Keeper. Where no table was imported, what is built in holds.
func (p *Places) Known() {
	if !p.unread {
		p.table.CompareAndSwap(nil, places.Countries())
	}
}

package documents

import (
	"sync/atomic"

	"adshard/backend"
	"adshard/places"
)

// Places keeps the table of places. The zero value has no table yet.
type Places struct {
	table  atomic.Pointer[places.Table]
	unread bool // a table exists but has never been read
}

// Table returns the table, or nil while it is not known which one is in force. It is safe for concurrent use, and does
// not block.
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

// Unread implements Keeper. The built-in table must not replace one that exists: places would lack their parents, and
// exclusions of the parents would not apply.
func (p *Places) Unread(string) { p.unread = true }

// Drop implements Keeper. It puts the built-in table in force.
func (p *Places) Drop(string) {
	p.unread = false
	p.table.Store(places.Countries())
}

// Known implements Keeper. If no table was imported, it puts the built-in one in force.
func (p *Places) Known() {
	if !p.unread {
		p.table.CompareAndSwap(nil, places.Countries())
	}
}

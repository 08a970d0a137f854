package documents

import (
	"sync/atomic"

	"adshard/backend"
	"adshard/places"
)

// Places keeps the table of places. The zero value has none yet.
type Places struct{ table atomic.Pointer[places.Table] }

// Table returns the table; nil: it is not known yet which one holds. It is safe for concurrent use, and does not block.
func (p *Places) Table() *places.Table { return p.table.Load() }

// Wants implements Keeper.
func (p *Places) Wants(name string) bool { return name == backend.PlacesDocument }

// Put implements Keeper.
func (p *Places) Put(_ backend.Document, text string) error {
	t, err := places.Parse(text)
	if err == nil {
		p.table.Store(t)
	}
	return err
}

// Drop implements Keeper: what is built in holds.
func (p *Places) Drop(string) { p.table.Store(places.Countries()) }

// Known implements Keeper. Where no table was imported, what is built in holds.
func (p *Places) Known() { p.table.CompareAndSwap(nil, places.Countries()) }

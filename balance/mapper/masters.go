package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/maps"
)

// Distributed is what of the model masters and distributors may have.
type Distributed struct{ views *maps.Views }

// Published returns the newest model that masters may have, or nil.
func (p Distributed) Published() *balance.Model { return p.views.Published() }

// Unpublished returns what masters without any map may have while nothing is
// published after a restart: the newest durable model, so that a slave that does
// not come back does not leave queries unanswered. Slaves that have not received its
// view refuse it. It is nil if there was no mapper before or a model is published.
func (p Distributed) Unpublished() *balance.Model { return p.views.Unpublished() }

// Master records a master and the view and revision of its map. It is called when
// the master starts to wait for another map, and again when it stops waiting. The name is
// NAME/PROCESS, or NAME. Errors: fault.Overloaded beyond maxMasters and maxNamesakes.
func (m *Mapper) Master(now time.Duration, name string, view, revision uint64) error {
	now = m.Time.At(now)
	if err := m.views.NoteMaster(now, name, view, revision); err != nil {
		return err
	}
	m.step(now)
	return nil
}

// MapFor returns the model whose map a master with this one is to get; nil: there
// is nothing newer. A master that has no older one to go on with gets what is
// Unpublished, too.
func (p Distributed) MapFor(have maps.Version) *balance.Model { return p.views.MapFor(have) }

// Reinit returns a quantum with the whole model, for a distributor that cannot
// follow the quanta one by one; the quanta after its number continue it. It returns
// false if there is no model yet, or if it is too old for some distributor.
func (p Distributed) Reinit() (balance.Quantum, bool) { return p.views.Reinit() }

package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/maps"
)

// Distributed gives access to the models that masters and distributors may have.
type Distributed struct{ views *maps.Views }

// Published returns the newest model that masters may have, or nil if there is none.
func (p Distributed) Published() *balance.Model { return p.views.Published() }

// Unpublished returns the model that a master without a map may have after a restart,
// while no model is published: the newest durable one. So queries are answered even if
// a slave does not come back. Slaves that have not received the model's view reject it.
// Unpublished returns nil if there was no mapper before, or if a model is published.
func (p Distributed) Unpublished() *balance.Model { return p.views.Unpublished() }

// Master records a master and the view and revision of its map. Call it when the master
// starts to wait for another map, and again when it stops waiting. The name is
// NAME/PROCESS, or NAME. Errors: fault.Overloaded if there are more than maxMasters or
// maxNamesakes.
func (m *Mapper) Master(now time.Duration, name string, view, revision uint64) error {
	now = m.Time.At(now)
	if err := m.views.NoteMaster(now, name, view, revision); err != nil {
		return err
	}
	m.step(now)
	return nil
}

// MapFor returns the model whose map is to be sent to a master with the given version, or
// nil if there is nothing newer. A master that has no older map to go on with may also
// get the model of Unpublished.
func (p Distributed) MapFor(have maps.Version) *balance.Model { return p.views.MapFor(have) }

// Reinit returns a quantum with the whole model, for a distributor that cannot follow the
// quanta one by one. The quanta after its number continue from it. It returns false if
// there is no model yet, or if the model is too old for some distributor.
func (p Distributed) Reinit() (balance.Quantum, bool) { return p.views.Reinit() }

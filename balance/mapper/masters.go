package mapper

import (
	"time"

	"adshard/balance"
	"adshard/balance/maps"
)

// Published returns the newest model that masters may have, or nil.
func (m *Mapper) Published() *balance.Model { return m.views.Published() }

// Unpublished returns what masters without any map may have while nothing is
// published after a restart: the newest durable model, so that a slave that does
// not come back does not leave queries unanswered. Slaves that have not received its
// view refuse it. It is nil if there was no mapper before or a model is published.
func (m *Mapper) Unpublished() *balance.Model { return m.views.Unpublished() }

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
func (m *Mapper) MapFor(have maps.Version) *balance.Model { return m.views.MapFor(have) }

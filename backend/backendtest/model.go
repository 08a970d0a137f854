package backendtest

import (
	"context"
	"maps"
	"slices"

	"adshard/backend"
)

// Model is a backend.Tx in memory. It is simple on purpose: every lookup goes through everything. It models the
// committed state and one open transaction.
type Model struct {
	committed, open version
	watch           backend.Watcher
}

// version is a state with the last id given to each kind of entity.
type version struct {
	State
	advertiser, campaign, group, keyword, negative, ad uint64
}

var _ backend.Tx = (*Model)(nil)

// NewModel returns an empty database.
func NewModel() *Model {
	return &Model{committed: version{State: NewState()}, open: version{State: NewState()}}
}

// State returns the committed state.
func (m *Model) State() State { return m.committed.State }

func (v version) clone() version {
	c := v
	c.State = NewState()
	for id, a := range v.Advertisers {
		a.Negatives = slices.Clone(a.Negatives)
		c.Advertisers[id] = a
	}
	for id, p := range v.Campaigns {
		p.Negatives = slices.Clone(p.Negatives)
		c.Campaigns[id] = p
	}
	for id, it := range v.Items {
		it.Keywords, it.Negatives, it.Ads = slices.Clone(it.Keywords), slices.Clone(it.Negatives), slices.Clone(it.Ads)
		c.Items[id] = it
	}
	return c
}

// Commit implements backend.Tx.
func (m *Model) Commit(context.Context) error {
	if m.watch != nil {
		reportDifferences(m.committed.State, m.open.State, m.watch)
		m.watch = nil
	}
	m.committed = m.open.clone()
	return nil
}

// Rollback implements backend.Tx.
func (m *Model) Rollback() error {
	m.watch = nil
	m.open = m.committed.clone()
	return nil
}

// SetBudget does what SetBudget of backend.Store does.
func (m *Model) SetBudget(campaign uint64, mark backend.BudgetMark) {
	for _, v := range []*version{&m.open, &m.committed} {
		if c, ok := v.Campaigns[campaign]; ok {
			if !mark.ShareOnly {
				c.BudgetExhausted = mark.Exhausted
			}
			switch mark.Share.Op {
			case backend.Set:
				c.Withheld = 1_000_000 - mark.Share.Value
			case backend.Reset:
				c.Withheld = 0
			}
			v.Campaigns[campaign] = c
		}
	}
}

// FindAdvertiser implements backend.Tx.
func (m *Model) FindAdvertiser(_ context.Context, name string) (uint64, error) {
	for id, a := range m.open.Advertisers {
		if a.Name == name {
			return id, nil
		}
	}
	return 0, nil
}

// FindCampaign implements backend.Tx.
func (m *Model) FindCampaign(_ context.Context, advertiser uint64, name string) (uint64, error) {
	for id, c := range m.open.Campaigns {
		if c.AdvertiserID == advertiser && c.Name == name {
			return id, nil
		}
	}
	return 0, nil
}

// FindGroup implements backend.Tx.
func (m *Model) FindGroup(_ context.Context, campaign uint64, name string) (uint64, error) {
	for id, it := range m.open.Items {
		if it.Group.CampaignID == campaign && it.Group.Name == name {
			return id, nil
		}
	}
	return 0, nil
}

// Advertiser implements backend.Tx.
func (m *Model) Advertiser(ctx context.Context, name string) (uint64, error) {
	if id, _ := m.FindAdvertiser(ctx, name); id != 0 {
		return id, nil
	}
	m.open.advertiser++
	id := m.open.advertiser
	m.open.Advertisers[id] = backend.Advertiser{ID: id, Name: name, AdvertiserSettings: backend.NewAdvertiser()}
	return id, nil
}

// UpdateAdvertiser implements backend.Tx.
func (m *Model) UpdateAdvertiser(_ context.Context, id uint64, p backend.AdvertiserPatch) error {
	a, ok := m.open.Advertisers[id]
	if !ok {
		return nil
	}
	if p.Status == backend.Remove {
		delete(m.open.Advertisers, id)
		for cid, c := range m.open.Campaigns {
			if c.AdvertiserID == id {
				m.removeCampaign(cid)
			}
		}
		return nil
	}
	a.Enabled = status(a.Enabled, p.Status)
	patched(&a.AdvertiserSettings, backend.NewAdvertiser(), p)
	m.open.Advertisers[id] = a
	return nil
}

func (m *Model) removeCampaign(id uint64) {
	delete(m.open.Campaigns, id)
	maps.DeleteFunc(m.open.Items, func(_ uint64, it backend.Item) bool { return it.Group.CampaignID == id })
}

// Campaign implements backend.Tx.
func (m *Model) Campaign(ctx context.Context, advertiser uint64, name string, p backend.CampaignPatch) (uint64, error) {
	id, _ := m.FindCampaign(ctx, advertiser, name)
	if p.Status == backend.Remove {
		m.removeCampaign(id)
		return id, nil
	}
	made := id == 0
	if made {
		m.open.campaign++
		id = m.open.campaign
		m.open.Campaigns[id] = backend.Campaign{ID: id, AdvertiserID: advertiser, Name: name, CampaignSettings: backend.NewCampaign()}
	}
	c := m.open.Campaigns[id]
	c.Enabled = status(c.Enabled, p.Status)
	c.Hold = hold(c.Hold, p.Hold, made)
	patched(&c.CampaignSettings, backend.NewCampaign(), p)
	m.open.Campaigns[id] = c
	return id, nil
}

// Group implements backend.Tx.
func (m *Model) Group(ctx context.Context, campaign uint64, name string, p backend.GroupPatch) (uint64, error) {
	id, _ := m.FindGroup(ctx, campaign, name)
	if p.Status == backend.Remove {
		delete(m.open.Items, id)
		return id, nil
	}
	made := id == 0
	if made {
		m.open.group++
		id = m.open.group
		m.open.Items[id] = backend.Item{Group: backend.Group{
			ID: id, CampaignID: campaign, AdvertiserID: m.open.Campaigns[campaign].AdvertiserID, Name: name, GroupSettings: backend.NewGroup(),
		}}
	}
	it := m.open.Items[id]
	it.Group.Enabled = status(it.Group.Enabled, p.Status)
	it.Group.Hold = hold(it.Group.Hold, p.Hold, made)
	patched(&it.Group.GroupSettings, backend.NewGroup(), p)
	m.open.Items[id] = it
	return id, nil
}

func status(enabled bool, s backend.Status) bool {
	return s == backend.Enable || s == backend.Keep && enabled
}

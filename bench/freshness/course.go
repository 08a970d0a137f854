package freshness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"adshard/backend"
	"adshard/bench/measure"
	"adshard/internal/wait"
)

// Course says what is changed, and how answers are checked meanwhile.
type Course struct {
	Store backend.Store
	// Search is the URL of the system to query.
	Search string
	// Groups is the number of ad groups in the campaign. Asked is the number of them that are
	// queried, evenly spread.
	Groups, Asked int
	// Rate is the number of changes per second during Duration, at irregular times. Each changes
	// the ad of one of the queried groups.
	Rate     float64
	Duration time.Duration
	// Wholes is how often, after that, the ads of all groups are changed at once.
	Wholes int
	// Patience is how long a change may take before the measurement fails.
	Patience time.Duration
	// Seed decides the times and, together with the clock, the word, so that each run has a
	// different one.
	Seed uint64
}

// Reaction is the result of a course.
type Reaction struct {
	// Ages holds the age of each change made at the rate, at the time when an answer first showed
	// it.
	Ages *measure.Latencies
	// Wholes holds the times from a change of the whole campaign until all queried groups were
	// new. Mixed holds the times during which answers had both: from the first new version to the
	// last old one.
	Wholes, Mixed []time.Duration
	// Absent is the number of answers without any ad, Answers that of all answers.
	Absent, Answers int
}

// answerTime bounds the time of one answer.
const answerTime = 10 * time.Second

// between is the pause between two queries.
const between = time.Millisecond

// Measure makes the changes and queries the system for them.
func (c *Course) Measure(ctx context.Context) (_ *Reaction, err error) {
	if c.Groups < 1 || c.Asked < 1 || c.Asked > c.Groups || c.Rate <= 0 || c.Duration <= 0 {
		return nil, errors.New("a course changes one or more groups of those asked for, at a rate above 0, for some time")
	}
	dice := rand.New(rand.NewPCG(c.Seed, uint64(time.Now().UnixNano())))
	m := &measuring{
		Course: c, dice: dice, campaign: newCampaign(c.Store, dice.Uint64(), c.Groups), ages: newAges(c.Groups), began: time.Now(),
		asks: cluster{search: c.Search, http: http.Client{Timeout: answerTime}}, result: &Reaction{Ages: measure.NewLatencies()},
	}
	for i := range c.Asked {
		m.asked = append(m.asked, i*c.Groups/c.Asked)
	}
	defer m.asks.http.CloseIdleConnections()
	defer func() { err = errors.Join(err, m.campaign.remove(context.WithoutCancel(ctx))) }()
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	return m.result, nil
}

// measuring is a course in progress.
type measuring struct {
	*Course
	dice     *rand.Rand
	campaign *campaign
	asks     cluster
	asked    []int // groups
	began    time.Time

	mu     sync.Mutex // guards the fields below
	ages   *ages
	result *Reaction
}

func (m *measuring) run(ctx context.Context) error {
	if err := m.campaign.build(ctx); err != nil {
		return err
	}
	if _, err := m.mixed(ctx); err != nil { // until version 0 is shown
		return err
	}
	m.result.Answers, m.result.Absent = 0, 0 // earlier there was nothing to show
	if err := m.changes(ctx); err != nil {
		return err
	}
	for range m.Wholes {
		if err := m.changeAll(ctx); err != nil {
			return err
		}
	}
	return nil
}

// changes makes changes at the rate and queries the system until answers show all of them.
func (m *measuring) changes(ctx context.Context) error {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	made, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- m.ask(asking, made) }()
	err := m.write(ctx)
	close(made)
	if err != nil {
		stop()
	}
	return errors.Join(err, <-ended)
}

// write makes one change in each interval of the rate, at a random time.
func (m *measuring) write(ctx context.Context) error {
	every := time.Duration(float64(time.Second) / m.Rate)
	begin := time.Now()
	for i := 0; time.Duration(i)*every < m.Duration; i++ {
		due := begin.Add(time.Duration((float64(i) + m.dice.Float64()) * float64(every)))
		if err := wait.Sleep(ctx, time.Until(due)); err != nil {
			return err
		}
		g := m.asked[m.dice.IntN(len(m.asked))]
		if err := m.campaign.change(ctx, g); err != nil {
			return err
		}
		at := time.Since(m.began)
		m.mu.Lock()
		if age, shown := m.ages.committed(g, m.campaign.versions[g], at); shown {
			m.result.Ages.Add(age)
		}
		m.mu.Unlock()
	}
	return nil
}

// ask queries all groups with changes that no answer has shown, until all changes have been
// made and shown.
func (m *measuring) ask(ctx context.Context, made <-chan struct{}) error {
	for last := time.Now(); ; {
		over := false
		select {
		case <-made:
			over = true
		default:
		}
		pending := m.pending()
		if len(pending) == 0 {
			if over {
				return nil
			}
			last = time.Now()
			if err := wait.Sleep(ctx, between); err != nil {
				return err
			}
		}
		for _, g := range pending {
			news, err := m.look(ctx, g)
			if err != nil {
				return err
			}
			if news {
				last = time.Now()
			}
			if err := wait.Sleep(ctx, between); err != nil {
				return err
			}
		}
		if time.Since(last) > m.Patience {
			return fmt.Errorf("for %v no answer has shown a change, and %d groups have some: see that what is asked is up", m.Patience, len(pending))
		}
	}
}

// pending returns the groups with changes that no answer has shown.
func (m *measuring) pending() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ages.pending()
}

// look queries a group and reports whether the answer shows a change for the first time.
func (m *measuring) look(ctx context.Context, group int) (news bool, err error) {
	v, at, err := m.version(ctx, group)
	if err != nil || v < 0 {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.ages.shown(group, v, at)
	for _, age := range list {
		m.result.Ages.Add(age)
	}
	return len(list) > 0, nil
}

// version returns the version of a group that an answer shows, or -1 if it shows none.
func (m *measuring) version(ctx context.Context, group int) (v int, at time.Duration, err error) {
	list, err := m.asks.answer(ctx, m.campaign.word(group))
	at = time.Since(m.began)
	if err != nil {
		return 0, 0, err
	}
	m.result.Answers++
	if len(list) == 0 {
		m.result.Absent++
		return -1, at, nil
	}
	v, err = versionIn(list[0].FinalURL)
	return v, at, err
}

// changeAll changes the whole campaign and waits until all queried groups are new.
func (m *measuring) changeAll(ctx context.Context) error {
	// This way, changes come at any phase of what a system does regularly.
	if err := wait.Sleep(ctx, time.Duration(m.dice.Int64N(int64(longestPause)))); err != nil {
		return err
	}
	all := make([]int, m.Groups)
	for g := range all {
		all[g] = g
	}
	if err := m.campaign.change(ctx, all...); err != nil {
		return err
	}
	committed := time.Since(m.began)
	mix, err := m.mixed(ctx)
	if err != nil {
		return err
	}
	m.result.Wholes = append(m.result.Wholes, max(0, mix.allNew-committed))
	m.result.Mixed = append(m.result.Mixed, mix.lasted())
	return nil
}

// mixed queries the groups until all of them are as committed. It pauses between rounds until
// the first group is, and not after that.
func (m *measuring) mixed(ctx context.Context) (*mixture, error) {
	mix, end := newMixture(len(m.asked)), time.Now().Add(m.Patience)
	for mix.remaining > 0 {
		for i, g := range m.asked {
			if !mix.old[i] {
				continue
			}
			v, at, err := m.version(ctx, g)
			if err != nil {
				return nil, err
			}
			mix.answered(i, v >= m.campaign.versions[g], at)
			if mix.begun {
				continue
			}
			if err := wait.Sleep(ctx, between); err != nil {
				return nil, err
			}
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("after %v %d of %d groups of a campaign that was changed at once are still old", m.Patience, mix.remaining, len(m.asked))
		}
	}
	return mix, nil
}

package hotwriters

import (
	"context"
	"fmt"

	"adshard/backend"
	"adshard/search"
)

// scene is the content of a database: one large group that is changed all the time,
// and others that are paused and enabled from time to time. Each of the others has a
// word of its own.
type scene struct {
	store  backend.Store
	hot    uint64 // the id of the hot group
	others []other
}

// other is one of the other groups.
type other struct {
	word     string
	campaign uint64
}

// written is the number of keywords written per transaction.
const written = 5000

// newScene writes the scene.
func newScene(ctx context.Context, store backend.Store, keywords, others int) (*scene, error) {
	s := &scene{store: store}
	err := s.commit(ctx, func(tx backend.Tx) (err error) {
		if _, s.hot, err = group(ctx, tx, "hot"); err != nil {
			return err
		}
		for i := range others {
			word := fmt.Sprintf("other%dword", i)
			campaign, id, err := group(ctx, tx, word)
			if err == nil {
				err = tx.Keyword(ctx, id, keyword(word, 1_000_000))
			}
			if err != nil {
				return err
			}
			s.others = append(s.others, other{word, campaign})
		}
		return nil
	})
	for from := 0; err == nil && from < keywords; from += written {
		err = s.commit(ctx, func(tx backend.Tx) error {
			for i := from; i < min(keywords, from+written); i++ {
				if err := tx.Keyword(ctx, s.hot, keyword(hotWords(i), 1_000_000)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s, err
}

// group writes an advertiser with a campaign, a group and an ad, and returns the ids
// of campaign and group.
func group(ctx context.Context, tx backend.Tx, name string) (campaign, id uint64, err error) {
	advertiser, err := tx.Advertiser(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	if campaign, err = tx.Campaign(ctx, advertiser, "campaign", backend.CampaignPatch{}); err != nil {
		return 0, 0, err
	}
	if id, err = tx.Group(ctx, campaign, "group", backend.GroupPatch{}); err != nil {
		return 0, 0, err
	}
	return campaign, id, tx.Ad(ctx, id, ad(name))
}

func ad(headline string) backend.AdPatch {
	return backend.AdPatch{Headlines: []string{headline}, Descriptions: []string{"Written by adbench."}, FinalURL: "https://adbench.example/"}
}

func keyword(words string, bid uint64) backend.KeywordPatch {
	return backend.KeywordPatch{Text: words, Words: words, Type: search.Broad, Status: backend.Enable, Bid: backend.To(bid)}
}

// hotWords returns the words of a keyword of the hot group.
func hotWords(i int) string { return fmt.Sprintf("hot%dword shared%dword", i, i%1000) }

// change pauses or enables a second ad of the hot group; i counts the changes. No
// other change costs the database less, whatever the group's size.
func (s *scene) change(ctx context.Context, i int) error {
	second := ad("second")
	second.Status = []backend.Status{backend.Enable, backend.Pause}[i%2]
	return s.commit(ctx, func(tx backend.Tx) error { return tx.Ad(ctx, s.hot, second) })
}

// show enables or pauses another group.
func (s *scene) show(ctx context.Context, o other, shown bool) error {
	status := backend.Pause
	if shown {
		status = backend.Enable
	}
	return s.commit(ctx, func(tx backend.Tx) error {
		_, err := tx.Group(ctx, o.campaign, "group", backend.GroupPatch{Status: status})
		return err
	})
}

// commit runs one transaction.
func (s *scene) commit(ctx context.Context, write func(backend.Tx) error) error {
	tx, err := s.store.Begin(ctx)
	if err != nil {
		return err
	}
	if err := write(tx); err != nil {
		_ = tx.Rollback() // the write's error says more
		return err
	}
	return tx.Commit(ctx)
}

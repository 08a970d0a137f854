package data

import (
	"context"
	"errors"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// Lines receives the lines of a stream.
type Lines interface {
	// Write takes whole lines. It returns an error if the reader has gone.
	Write(lines []byte) error
	// JSON takes a value of a type of package api, as one line.
	JSON(v any) error
	// Flush sends the lines taken so far.
	Flush() error
}

// changesAtOnce is how many changes are read together.
const changesAtOnce = 500

// Changes streams the changes after a position: at most `limit`, and for at most `wait`. Errors before
// the first line: fault.Stale (answered 410) if they are no longer kept; fault.Conflict for a position
// of another database, or of a state before the database was restored; fault.Overloaded.
func (s *Service) Changes(ctx context.Context, after search.Position, limit int, wait time.Duration, to Lines) error {
	if err := s.streams.try(); err != nil {
		return err
	}
	defer s.streams.leave()
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for at := backend.Position(after); ; {
		list, err := s.db.Changes(ctx, at, min(limit, changesAtOnce))
		if fault.Is(err, fault.Stale) {
			return httpapi.Gone(err)
		}
		if err != nil {
			return err
		}
		for _, c := range list {
			at = backend.Position{Clock: c.Clock, Mark: c.Mark}
			if err := to.JSON(changeLine(&c)); err != nil {
				return err
			}
		}
		if err := to.Flush(); err != nil {
			return err
		}
		if limit -= len(list); limit == 0 || len(list) == 0 && until.Err() != nil {
			return nil
		}
		if len(list) > 0 {
			continue
		}
		if err := s.db.Wait(until, at); err != nil && !errors.Is(until.Err(), context.DeadlineExceeded) {
			return err
		}
	}
}

func changeLine(c *backend.Change) *api.ChangeLine {
	line := &api.ChangeLine{
		Position: position(backend.Position{Clock: c.Clock, Mark: c.Mark}), ID: c.ID, AdvertiserID: c.AdvertiserID, CampaignID: c.CampaignID,
		Removed: c.Removed,
	}
	switch c.Kind {
	case backend.KindAdvertiser:
		line.Type = api.ChangeLineTypeAdvertiser
	case backend.KindCampaign:
		line.Type = api.ChangeLineTypeCampaign
	default:
		line.Type = api.ChangeLineTypeGroup
	}
	return line
}

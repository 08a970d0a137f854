package events

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"adshard/budget"
	"adshard/events/store"
	"adshard/fault"
)

// MarksKey is the key in the control state of the records of marks, by campaign. They are stored
// beside the campaigns. So they are known even if the database of events is lost, or restored from
// an earlier backup. A mark that this database does not know was set for spending that is lost: it
// stays until the campaign's day ends, and is then removed.
const MarksKey = "events-marks"

// marksOf reads the records of marks in the control state.
func (b *Budgets) marksOf(ctx context.Context) (marks map[uint64]store.Day, text []byte, err error) {
	text, err = b.Control.LoadControl(ctx, MarksKey)
	if err != nil {
		return nil, nil, err
	}
	marks = make(map[uint64]store.Day)
	if len(text) > 0 && json.Unmarshal(text, &marks) != nil {
		return nil, nil, fault.Newf(fault.Corrupt, "budgets", "the control state %q is damaged: delete it while the collectors are stopped", MarksKey)
	}
	return marks, text, nil
}

// changeMarks changes the records of marks in the control state. Several processes may call it.
func (b *Budgets) changeMarks(ctx context.Context, change func(map[uint64]store.Day)) error {
	for {
		marks, was, err := b.marksOf(ctx)
		if err != nil {
			return err
		}
		change(marks)
		text, err := json.Marshal(marks)
		if err != nil || bytes.Equal(text, was) || len(marks) == 0 && len(was) == 0 {
			return err
		}
		err = b.Control.SaveControlIf(ctx, MarksKey, text, MarksKey, was)
		if !fault.Is(err, fault.Conflict) {
			return err
		}
	}
}

// saveMarks records marks in the control state.
func (b *Budgets) saveMarks(ctx context.Context, marks []store.Mark) error {
	if len(marks) == 0 {
		return nil
	}
	return b.changeMarks(ctx, func(all map[uint64]store.Day) {
		for _, m := range marks {
			all[m.Campaign] = m.Day
		}
	})
}

// drop deletes the records of marks, except those replaced by a mark of another day.
func (b *Budgets) drop(ctx context.Context, marks []store.Mark) error {
	if len(marks) == 0 {
		return nil
	}
	return b.changeMarks(ctx, func(all map[uint64]store.Day) {
		for _, m := range marks {
			if all[m.Campaign] == m.Day {
				delete(all, m.Campaign)
			}
		}
	})
}

// takeBackLost removes the marks that the database of events does not know, once their day is over.
func (b *Budgets) takeBackLost(ctx context.Context) error {
	own, err := b.Store.Marks(ctx)
	if err != nil {
		return err
	}
	if err := b.saveMarks(ctx, own); err != nil { // they may be of a program that did not record them
		return err
	}
	lost, _, err := b.marksOf(ctx)
	if err != nil {
		return err
	}
	for _, m := range own {
		delete(lost, m.Campaign)
	}
	if len(lost) == 0 {
		return nil
	}
	budgets, err := b.Campaigns.Budgets(ctx, slices.Sorted(maps.Keys(lost)))
	if err != nil {
		return err
	}
	return b.endLost(ctx, budgets, lost)
}

// endLost removes the lost marks whose day is over, also those of campaigns that no longer exist.
func (b *Budgets) endLost(ctx context.Context, budgets []Budget, lost map[uint64]store.Day) error {
	now, stay := b.Now(), make(map[uint64]bool)
	for _, l := range budgets {
		stay[l.Campaign] = l.Damage != nil || number(budget.DayOf(now, l.Zone)) == lost[l.Campaign]
	}
	var over []store.Mark
	for _, c := range slices.Sorted(maps.Keys(lost)) {
		if stay[c] {
			continue
		}
		if err := b.set(ctx, c, false); err != nil {
			return err
		}
		over = append(over, store.Mark{Campaign: c, Day: lost[c]})
	}
	return b.drop(ctx, over)
}

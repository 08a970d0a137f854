package barrels

import (
	"context"
	"math"
)

// unknown is the number of unsettled changes when it is not known.
const unknown = math.MaxInt64

// Maintain implements Store.
func (s *store) Maintain(ctx context.Context) error {
	return nil
}

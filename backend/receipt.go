package backend

import (
	"context"
	"fmt"
	"time"
)

// ReceiptAge is how long receipts are kept at least. Twice that long after it was noted, a receipt is deleted when
// another one is noted.
const ReceiptAge = 24 * time.Hour

// receipts is the prefix of the control values that are receipts.
const receipts = "receipt/"

// ReceiptKey returns the control key of a receipt that is noted at a time, and the first key to keep: all keys from
// ReceiptsBegin up to that key are to be deleted.
func ReceiptKey(key string, at time.Time) (name, keep string) {
	period := at.Unix() / int64(ReceiptAge/time.Second)
	return receiptName(period, key), receiptName(period-1, "")
}

// ReceiptsBegin sorts before the control keys of all receipts.
const ReceiptsBegin = receipts

func receiptName(period int64, key string) string {
	return fmt.Sprintf("%s%010d/%s", receipts, period, key)
}

// FindReceipt returns what was noted under a key (Tx.Receipt) in the ReceiptAge before `at`, or nil if nothing was.
func FindReceipt(ctx context.Context, s Store, key string, at time.Time) ([]byte, error) {
	for _, when := range []time.Time{at, at.Add(-ReceiptAge)} {
		name, _ := ReceiptKey(key, when)
		if value, err := s.LoadControl(ctx, name); value != nil || err != nil {
			return value, err
		}
	}
	return nil, nil
}

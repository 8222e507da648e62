package auth

import (
	"context"
	"sync"
)

// MemoryStore is a [TokenStore] in memory. It is safe for concurrent use.
type MemoryStore struct {
	mu      sync.Mutex
	records map[StoreKey]*Record // guarded by mu, as are the records themselves
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{records: map[StoreKey]*Record{}}
}

// Load returns a copy of the record of key.
func (m *MemoryStore) Load(_ context.Context, key StoreKey) (*Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key].clone(), nil
}

// Save stores a copy of r. A nil r deletes the record.
func (m *MemoryStore) Save(ctx context.Context, key StoreKey, r *Record) error {
	if r == nil {
		return m.Delete(ctx, key)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[key] = r.clone()
	return nil
}

// Delete removes the record of key.
func (m *MemoryStore) Delete(_ context.Context, key StoreKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.records, key)
	return nil
}

package grpccall

import "fmt"

// message is a protobuf message that stays encoded.
type message []byte

// codec passes messages through. It goes by the name of the codec it stands for.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(*message)
	if !ok {
		return nil, fmt.Errorf("cannot send a %T", v)
	}
	return *m, nil
}

// Unmarshal copies, because the bytes belong to a pool.
func (codec) Unmarshal(data []byte, v any) error {
	m, ok := v.(*message)
	if !ok {
		return fmt.Errorf("cannot receive a %T", v)
	}
	*m = append(message(nil), data...)
	return nil
}

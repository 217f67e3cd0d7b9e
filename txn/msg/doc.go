// Package msg builds transactional messages: delivered if, and only if, their
// producer committed its local transaction.
//
//	paid := msg.New("order-paid").
//		To("mail", "https://mail.example/send").
//		Topic("orders").
//		Check("orders.check", 10*time.Second, nil)
//	id, err := paid.Do(ctx, co, order, func(ctx context.Context, id string) error {
//		return saveOrder(ctx, order, id) // the local transaction; it writes the ID down
//	})
//
// The message is made durable before the local transaction begins, and delivered
// after the producer has said that it was committed. A producer that says nothing,
// because it crashed or the network did, is asked: its check answers done if it
// finds the message's ID beside its data, and refuses if it does not and never will.
// Package barrier answers that from the local database.
//
// Receivers are called until they have taken the message, each for itself, so one
// may get it more than once, and in another order than it was sent. Package barrier
// drops repetitions.
package msg

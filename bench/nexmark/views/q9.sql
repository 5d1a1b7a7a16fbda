-- The winning bid of each auction.
create materialized view q9 as
select id, item_name, description, initial_bid, reserve, date_time, expires, seller, category, extra,
       auction, bidder, price, bid_date_time, bid_extra
from (select a.id, a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller,
             a.category, a.extra, b.auction, b.bidder, b.price, b.date_time as bid_date_time, b.extra as bid_extra,
             row_number() over (partition by a.id order by b.price desc, b.date_time, b.id) as place
      from auction a join bid b on a.id = b.auction
      where b.date_time between a.date_time and a.expires) t
where place <= 1

-- The average of the winning prices of each category.
create materialized view q4 as
select q.category, avg(q.final) as average
from (select max(b.price) as final, a.category
      from auction a join bid b on a.id = b.auction
      where b.date_time between a.date_time and a.expires
      group by a.id, a.category) q
group by q.category
